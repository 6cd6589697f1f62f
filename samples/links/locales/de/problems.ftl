# Die Titel von Problemen, und die Meldungen an den Feldern von Formularen.

problem-bad-request = Fehlerhafte Anfrage
problem-malformed-json = Der Inhalt der Anfrage ist kein JSON
problem-authentication = Anmeldung nötig
problem-authorization = Zugriff verweigert
problem-scope = Nicht erlaubt
problem-role = Nicht erlaubt
problem-confirmation = Nicht erlaubt
problem-cross-site = Nicht erlaubt
problem-csrf = Nicht erlaubt
problem-not-found = Nicht gefunden
problem-method-not-allowed = Methode nicht erlaubt
problem-timeout = Zeit für die Anfrage abgelaufen
problem-conflict = Die Anfrage passt nicht zum Stand der Dinge
problem-payload-too-large = Inhalt der Anfrage zu groß
problem-unsupported-media-type = Format nicht unterstützt
problem-validation = Ungültige Eingabe
problem-rate-limit = Zu viele Anfragen
problem-internal = Fehler des Servers
problem-unavailable = Dienst nicht verfügbar

no-link = kein Link { $slug }
slug-taken = der Name { $slug } ist vergeben

validation-invalid_format = { $message ->
    [slug] 3 bis 32 Kleinbuchstaben, Ziffern oder Bindestriche
    [url] eine vollständige URL mit http oder https
    [email] eine Adresse wie ada@example.org
   *[other] { $message }
 }
validation-too_small = { $message ->
    [password] mindestens 8 Zeichen
    [token-name] ein Name, an dem Sie es wiedererkennen
   *[other] { $message }
 }
validation-too_big = { $message ->
    [url] höchstens 2048 Zeichen
   *[other] { $message }
 }
validation-custom = { $message ->
    [taken] dieser Name ist vergeben
   *[other] { $message }
 }
validation-email = ist keine E-Mail-Adresse
validation-too-short = hat weniger als 8 Zeichen
validation-too-long = hat zu viele Zeichen
