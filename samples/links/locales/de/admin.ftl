# Die Seite der Verwaltung, und die Übersicht für Entwickler.

page-figure-links = Links
page-figure-visits = Besuche
page-figure-uptime = Läuft seit
page-uptime-days = { $days } T. { $hours } Std.
page-uptime-hours = { $hours } Std. { $minutes } Min.
page-uptime-minutes = { $minutes } Min.
page-site-closed = Die Website ist geschlossen
page-site-closed-text = Besucher sehen eine Seite, die das sagt. Diese Seite und die Prüfung des Zustands bleiben offen.
page-site-open = Die Website ist offen
page-site-open-text = Während sie geschlossen ist, sehen Besucher eine Seite, die das sagt. Diese Seite bleibt offen.
page-close-site = Website schließen
page-open-site = Website öffnen
page-newest-links = Neueste Links
page-none = Es gibt keine.
page-remove = Entfernen
page-remove-link-question = { $slug } entfernen? Wer diesem Link dann folgt, findet nichts.

flash-site-closed = Die Website ist geschlossen. Besucher sehen eine Seite, die das sagt.
flash-site-open = Die Website ist wieder offen.

page-overview = Was hier läuft
page-overview-stages = Die eingeschalteten Stufen, von außen nach innen:
page-overview-places = { $up } zeigt den Zustand dieses Prozesses. { $metrics } zählt Anfragen für Prometheus; nur dieser Rechner darf das lesen. { $docs } ist das Dokument der API. { $mails } hat die Mails, die kein Server versendet. { $admin } ist für die Konten, deren Adressen in { $admins } stehen. { $guide } beginnt mit den ersten Schritten.
page-overview-guide = Die Anleitung
page-overview-line = Diese Anfrage steht im Terminal in folgender Zeile, mit ihrer Zeit und Dauer:
