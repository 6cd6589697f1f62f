# Der Rahmen jeder Seite, und die Seiten für Fehler.

page-skip = Zum Inhalt
page-visitor = Konto
page-sign-in = Anmelden
page-sign-up = Registrieren
page-sign-out = Abmelden
page-your-account = Ihr Konto
page-sample = Ein Beispiel von Stagecraft.
page-more = Mehr
page-language = Sprache
page-most-visited = Meistbesucht
page-administration = Verwaltung

page-error-403 = Nicht erlaubt
page-error-403-text = Ihr Konto darf das nicht, oder die Anfrage kam von anderswo.
page-error-404 = Nicht gefunden
page-error-404-text = Unter dieser Adresse gibt es nichts, oder nichts mehr.
page-error-422 = Keine solche Adresse
page-error-422-text = Kein Link und keine Seite hat eine Adresse wie diese.
page-error-429 = Zu viele Anfragen
page-error-429-text = Das waren viele Anfragen auf einmal. Bitte warten Sie einen Moment.
page-error-503 = Gleich wieder da
page-error-503-text = Wir sind gerade nicht erreichbar. Bitte versuchen Sie es in Kürze noch einmal.
page-error-4xx = Das hat nicht geklappt
page-error-4xx-text = Diese Anfrage kann so nicht bearbeitet werden.
page-error-5xx = Etwas ist schiefgegangen
page-error-5xx-text = Der Fehler liegt bei uns. Er steht in unserem Protokoll, und wir sehen ihn uns an.
page-try-again = Noch einmal versuchen
page-to-the-links = Zu den Links
