# Die Seiten der Konten.

page-email = E-Mail-Adresse
page-password = Passwort
page-code = Code
page-go-on = Weiter
page-eight-characters = Mindestens 8 Zeichen

page-no-account-yet = Noch kein Konto?
page-password-lost = Passwort verloren?
page-set-new-password = Neues festlegen
page-stay-signed-in = Auf diesem Gerät angemeldet bleiben
page-sign-in-with-passkey = Mit einem Passkey anmelden
page-sign-in-with = Anmelden mit { $provider }
page-sign-up-with = Registrieren mit { $provider }
page-account-already = Schon ein Konto?
page-mail-with-link = Sie bekommen eine Mail mit einem Link

page-sent = Eine Mail ist unterwegs
page-sent-to = Öffnen Sie den Link in der Mail an { $email }.
page-sent-if-account = Es gibt keine, wenn die Adresse kein Konto hat.
page-sent-nowhere = Dieser Server versendet keine Mails.
page-sent-on-page = Ihre steht auf { $page }.
page-sent-all-mails = der Seite aller Mails
page-sent-in-folder = Ihre ist eine Datei im Ordner { $folder }.

page-confirm-address = Bestätigen Sie Ihre Adresse
page-confirm = Bestätigen
page-password-of-sign-up = Das der Registrierung, denn dies ist ein anderer Browser
page-new-password = Ein neues Passwort
page-know-again = Ist es Ihnen wieder eingefallen?
page-send-link = Link senden
page-mail-if-account = Sie bekommen eine Mail, wenn die Adresse ein Konto hat
page-set-password = Neues Passwort festlegen
page-new-password-field = Neues Passwort
page-new-password-rules = Mindestens 8 Zeichen. Sie werden überall abgemeldet
page-set-it = Festlegen

page-password-again = Noch einmal Ihr Passwort
page-careful = Vor einer Seite, die ein entsperrtes Gerät allein nicht öffnen darf.
page-sign-in-again = Noch einmal anmelden
page-or-set-password = Oder { $link }.
page-or-set-password-link = ein Passwort festlegen

page-second-step = Zweiter Schritt
page-second-step-app = Ein Schritt fehlt noch: der Code Ihrer App.
page-second-step-passkey = Ein Schritt fehlt noch: Ihr Passkey.
page-or-recovery-code = Oder einer Ihrer Wiederherstellungscodes
page-not-you = Nicht Sie?
page-start-again = Von vorn beginnen
page-use-passkey = Passkey verwenden
page-passkey-failed = Ihr Gerät gab keinen Passkey. Versuchen Sie es noch einmal, oder mit einem anderen.

page-devices-tab = Geräte
page-security = Sicherheit
page-tokens = API-Tokens
page-linked = Verknüpfte Konten
page-time = { DATETIME($at, dateStyle: "medium", timeStyle: "short", hour12: 0) } UTC

page-devices = Ihre Geräte
page-this-one = dieses
page-stays-signed-in = bleibt angemeldet
page-device-used = { $address }, zuletzt verwendet { $time }
page-device-on = { $browser } auf { $system }
page-device-program = Ein Programm
page-sign-out-there = Dort abmelden
page-sign-out-others = Auf allen anderen Geräten abmelden

page-app = Authentifizierungs-App
page-app-without = Nach Ihrem Passwort fragt eine Anmeldung nach einem Code, den eine App auf Ihrem Telefon zeigt.
page-app-with = { $count ->
    [one] Eine Anmeldung fragt nach ihrem Code. Sie haben { $count } Wiederherstellungscode für den Tag, an dem Sie kein Telefon haben.
   *[other] Eine Anmeldung fragt nach ihrem Code. Sie haben { $count } Wiederherstellungscodes für den Tag, an dem Sie kein Telefon haben.
 }
page-app-add = App hinzufügen
page-app-remove = App entfernen
page-app-remove-question = Die App entfernen? Dann meldet Sie allein Ihr Passwort an.
page-new-codes = Neue Wiederherstellungscodes
page-passkeys = Passkeys
page-passkeys-text = Ein Schlüssel auf Ihrem Gerät, das nach Finger, Gesicht oder PIN fragt. Damit melden Sie sich ohne Passwort an, oder nach dem Passwort als zweitem Schritt.
page-passkey-signs-in = Meldet Sie an
page-passkey-second-step = Ist Ihr zweiter Schritt
page-passkey-name = Name eines neuen Passkeys
page-passkey-name-example = Telefon
page-passkey = Passkey
page-passkey-add-sign-in = Zum Anmelden hinzufügen
page-passkey-add-second-step = Als zweiten Schritt hinzufügen
page-remove-question = { $name } entfernen?

page-app-new = Authentifizierungs-App hinzufügen
page-app-key-text = Fügen Sie diesen Schlüssel Ihrer App hinzu, oder öffnen Sie den Link darunter auf Ihrem Telefon. Beides wird nicht noch einmal gezeigt.
page-app-key = Schlüssel
page-app-link = Link
page-app-add-this = App hinzufügen
page-app-code-hint = Die sechs Ziffern, die die App jetzt zeigt
page-app-which = Sie brauchen eine App wie Aegis, FreeOTP, 2FAS oder Google Authenticator. Die nächste Seite zeigt einen Schlüssel für sie.
page-app-new-key = Mit einem neuen Schlüssel von vorn beginnen
page-app-show-key = Schlüssel zeigen

page-codes = Wiederherstellungscodes
page-codes-left = Sie haben noch { $count }. Neue treten an ihre Stelle.
page-codes-show = Neue Codes zeigen
page-codes-text = Jeder davon meldet Sie einmal an, an Stelle der App. Drucken Sie sie aus: Sie werden nicht noch einmal gezeigt.
page-codes-stored = Ich habe sie aufbewahrt

page-token-created = Ihr neues Token
page-token-created-text = Bewahren Sie es jetzt auf: Es wird nicht noch einmal gezeigt.
page-token-new = Ein neues Token
page-token-new-text = Ein Programm, das es sendet, handelt für Sie, unter { $path }.
page-token-name = Name
page-token-name-example = Sicherungsskript
page-token-may = Es darf
page-token-may-read = Ihre Links lesen
page-token-may-write = Ihre Links lesen, anlegen und entfernen
page-token-may-close = die Website schließen und öffnen
page-token-ends-after = Es endet nach
page-token-days = { $days } Tagen
page-token-year = einem Jahr
page-token-make = Token anlegen
page-tokens-yours = Ihre Tokens
page-token-used = Zuletzt verwendet { $time }
page-token-unused = Noch nicht verwendet
page-token-ends = endet { $time }
page-revoke = Widerrufen
page-revoke-question = { $name } widerrufen? Programme, die es senden, werden dann abgewiesen.

page-linked-at = Bei { $provider }
page-linked-text = Mit einem verknüpften Konto melden Sie sich hier ohne Passwort an.
page-linked-no-password = Sie haben kein Passwort. { $link }, für den Tag, an dem { $provider } nicht da ist.
page-linked-set-password = Legen Sie eines fest
page-linked-first = Ihr Konto bei { $provider } verknüpfen
page-linked-another = Ein weiteres Konto bei { $provider } verknüpfen
page-linked-nameless = Ein Konto ohne Adresse
page-linked-times = Verknüpft { $linked }, zuletzt verwendet { $used }
page-unlink = Trennen
page-unlink-question = { $name } trennen?

flash-signed-in = Sie haben sich angemeldet.
flash-signed-out = Sie haben sich abgemeldet.
flash-new-password = Sie haben ein neues Passwort. Melden Sie sich damit an.
flash-expired = Das hat zu lange gedauert, oder der Link wurde schon verwendet.
flash-failed = Das hat nicht geklappt.
flash-passkey-refused = Dieser Passkey gilt hier nicht.
flash-page-expired = Die Seite ist abgelaufen. Bitte versuchen Sie es noch einmal.
flash-too-many-attempts = Zu viele Versuche. Versuchen Sie es später noch einmal.
flash-account-changed = Ihr Konto hat sich inzwischen geändert. Melden Sie sich noch einmal an.
flash-too-many-tokens = Sie haben zu viele Tokens. Widerrufen Sie zuerst eines.
flash-device-signed-out = Dieses Gerät ist abgemeldet.
flash-devices-signed-out = Alle anderen Geräte sind abgemeldet.
flash-app-removed = Die App ist entfernt, und mit ihr die Wiederherstellungscodes.
flash-passkey-added = Der Passkey ist hinzugefügt.
flash-passkey-removed = Der Passkey ist entfernt.
flash-token-revoked = Das Token ist widerrufen.

flash-provider-signed-up = Willkommen. Sie haben jetzt ein Konto.
flash-provider-linked = Das Konto ist verknüpft. Ihre anderen Geräte sind abgemeldet.
flash-provider-unlinked = Das Konto ist getrennt. Ihre anderen Geräte sind abgemeldet.
flash-provider-link-needed = Ein Konto hier hat diese Adresse schon. Melden Sie sich dort an, und verknüpfen Sie es dann mit { $provider }.
flash-provider-email-needed = Ihre Adresse ist nicht bestätigt bei { $provider }. Bestätigen Sie sie dort, oder registrieren Sie sich hier.
flash-provider-no-account = Sie haben hier kein Konto.
flash-provider-taken = Dieses Konto bei { $provider } gehört hier jemand anderem.
flash-provider-canceled = Sie haben abgebrochen, und nichts hat sich geändert.
flash-provider-refused = Die Anmeldung wurde abgewiesen von { $provider }.
flash-provider-expired = Das hat zu lange gedauert, oder war schon erledigt. Beginnen Sie von vorn.
flash-provider-unavailable = Keine Antwort von { $provider }. Versuchen Sie es in ein paar Minuten noch einmal.
flash-provider-missing = Dieses Konto war nicht mehr verknüpft.
flash-provider-last = Dieses Konto ist Ihr einziger Weg, sich anzumelden. Legen Sie zuerst ein Passwort fest.

field-credentials-wrong = Adresse oder Passwort sind falsch
field-password-wrong = ist falsch
field-password-not-of-sign-up = ist nicht das dieser Registrierung
field-code-wrong = ist falsch, oder wurde schon verwendet
field-code-not-now = ist nicht der Code von jetzt
field-code-late = kam zu spät: beginnen Sie von vorn
field-passkey-failed = Der Passkey wurde nicht hinzugefügt. Versuchen Sie es noch einmal.
