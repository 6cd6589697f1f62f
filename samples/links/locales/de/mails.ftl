# Die Mails. URLs stehen neben den Texten.

mail-confirm = Bestätigen Sie Ihre Adresse
mail-confirm-welcome = Willkommen bei Links.
mail-confirm-text = Bestätigen Sie Ihre Adresse, und Ihr Konto ist fertig:
mail-confirm-once = Der Link gilt einmal, einen Tag lang. Wenn Sie sich nicht registriert haben, übergehen Sie diese Mail.

mail-exists = Sie haben schon ein Konto
mail-exists-text = Jemand hat sich mit Ihrer Adresse registriert. Sie haben schon ein Konto, und es ist unverändert.
mail-exists-you = Wenn Sie das waren, melden Sie sich an, oder lassen Sie sich ein neues Passwort geben.

mail-reset = Legen Sie ein neues Passwort fest
mail-reset-text = Hier legen Sie ein neues Passwort fest.
mail-once = Der Link gilt einmal, bis { DATETIME($until, dateStyle: "medium", timeStyle: "short", hour12: 0) } UTC. Wenn Sie ihn nicht angefordert haben, übergehen Sie diese Mail.

mail-not-you = Wenn Sie das nicht waren, fordern Sie sofort ein neues Passwort an, und schreiben Sie uns.
mail-password = Ihr Passwort hat sich geändert
mail-password-text = Ihr Konto hat von jetzt an ein neues Passwort.
mail-email = Ihre Adresse hat sich geändert
mail-email-text = Ihr Konto hat von jetzt an eine andere Adresse.
mail-totp-added = Eine Authentifizierungs-App wurde hinzugefügt
mail-totp-added-text = Eine Anmeldung an Ihrem Konto fragt von jetzt an nach einem Code dieser App.
mail-totp-removed = Eine Authentifizierungs-App wurde entfernt
mail-totp-removed-text = Eine Anmeldung an Ihrem Konto fragt nicht mehr nach einem Code einer App.
mail-recovery-codes-renewed = Sie haben neue Wiederherstellungscodes
mail-recovery-codes-renewed-text = Die bisherigen Wiederherstellungscodes gelten nicht mehr.
mail-recovery-code-used = Ein Wiederherstellungscode wurde verwendet
mail-recovery-code-used-text = Jemand hat sich mit einem Wiederherstellungscode an Ihrem Konto angemeldet.
mail-passkey-added = Ein Passkey wurde hinzugefügt
mail-passkey-added-text = Ihr Konto hat von jetzt an einen weiteren Passkey.
mail-passkey-removed = Ein Passkey wurde entfernt
mail-passkey-removed-text = Ihr Konto hat von jetzt an einen Passkey weniger.
mail-provider-linked = Ein Konto wurde verknüpft
mail-provider-linked-text = Ein Konto bei einem anderen Dienst meldet von jetzt an bei Ihrem an.
mail-provider-unlinked = Ein Konto wurde getrennt
mail-provider-unlinked-text = Ein Konto bei einem anderen Dienst meldet nicht mehr bei Ihrem an.
mail-api-token-created = Ein API-Token wurde angelegt
mail-api-token-created-text = Ein Programm mit diesem Token darf von jetzt an für Sie handeln.
