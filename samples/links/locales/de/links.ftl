# Die Seiten der Links, und die Meldungen ihrer Formulare.

page-welcome = Kurze Links, ehrlich gezählt.
page-welcome-text = Machen Sie aus einer langen Adresse eine, die auf eine Karte passt. Sehen Sie Tag für Tag, wie oft ihr jemand folgt. Niemand wird dabei verfolgt.
page-first-link = Ersten Link anlegen
page-have-account = Ich habe ein Konto
page-description = Kurze Links, und wie oft ihnen jemand folgt.

page-search = Suchen
page-search-links = Links durchsuchen
page-search-for = Suche nach { $query }
page-links = { $count ->
    [one] { $count } Link
   *[other] { $count } Links
 }
page-no-links = Noch keine Links.
page-no-links-first = Noch keine Links: Legen Sie den ersten an.
page-no-match = Nichts passt zu „{ $query }“.
page-load-more = Mehr laden
page-loading = Wird geladen …
page-visits = { $count ->
    [one] { $number } Besuch
   *[other] { $number } Besuche
 }
page-yours = Ihrer
page-details = Einzelheiten
page-details-of = Einzelheiten zu { $slug }

page-new-link = Ein neuer Link
page-shorten = Kürzen
page-long-address = Lange Adresse
page-name-optional = Name (freiwillig)
page-name-example = mein-link
page-name-free = Dieser Name ist frei.

page-ranking-description = Die meistbesuchten Links.
page-counted-anew = Alle paar Sekunden neu gezählt.
page-back = Zurück
page-all-links = Alle Links

page-leads-to = führt zu { $target }
page-open = Öffnen
page-copy = Kopieren
page-copied = Kopiert
page-visit-count = Besuche
page-made-on = Angelegt am
page-date = { DATETIME($at, dateStyle: "long") }
page-visits-by-day = Besuche nach Tagen
page-visits-loading = Die Besuche nach Tagen kommen gleich
page-day = Tag
page-visits-lately = { $count ->
    [0] In den letzten 14 Tagen ist niemand diesem Link gefolgt.
   *[other] { $count } in den letzten 14 Tagen, nach Tagen in UTC.
 }
page-refresh = Aktualisieren
page-picture = Bild
page-picture-rules = Eine Datei im Format PNG, JPEG, GIF oder WebP, höchstens 256 KiB
page-upload = Hochladen
page-remove-link = Diesen Link entfernen
page-remove-link-text = Wer ihm dann folgt, findet nichts. Das lässt sich nicht rückgängig machen.
page-remove-slug = { $slug } entfernen

flash-link-ready = Der Link { $slug } ist fertig.
flash-link-removed = Der Link { $slug } ist entfernt.
flash-link-picture = Der Link { $slug } hat ein Bild.

field-name-taken = dieser Name ist vergeben
field-picture-size = höchstens 256 KiB
field-picture-missing = wählen Sie ein Bild
field-picture-type = ein Bild im Format PNG, JPEG, GIF oder WebP

about = Ein Link-Kürzer, und das Beispiel zum Abschreiben.
