# The mails. URLs stand beside the messages.

mail-confirm = Confirm your address
mail-confirm-welcome = Welcome to Links.
mail-confirm-text = Confirm your address, and your account is ready:
mail-confirm-once = The link works once, within a day. If you have not signed up, ignore this mail.

mail-exists = You have an account already
mail-exists-text = Somebody has signed up with your address. You have an account already, and it is unchanged.
mail-exists-you = If that was you, sign in, or ask for a new password.

mail-reset = Set a new password
mail-reset-text = Set a new password here.
mail-once = The link works once, until { DATETIME($until, dateStyle: "medium", timeStyle: "short", hour12: 0) } UTC. If you did not ask for it, ignore this mail.

mail-not-you = If that was not you, ask for a new password at once, and write to us.
mail-password = Your password has changed
mail-password-text = Your account has a new password from now on.
mail-email = Your address has changed
mail-email-text = Your account has another address from now on.
mail-totp-added = An authenticator app was added
mail-totp-added-text = A sign-in to your account asks for a code of this app from now on.
mail-totp-removed = An authenticator app was removed
mail-totp-removed-text = A sign-in to your account asks for no code of an app any more.
mail-recovery-codes-renewed = You have new recovery codes
mail-recovery-codes-renewed-text = The recovery codes until now are not valid any more.
mail-recovery-code-used = A recovery code was used
mail-recovery-code-used-text = Somebody has signed in to your account with a recovery code.
mail-passkey-added = A passkey was added
mail-passkey-added-text = Your account has a further passkey from now on.
mail-passkey-removed = A passkey was removed
mail-passkey-removed-text = Your account has a passkey less from now on.
mail-provider-linked = An account was linked
mail-provider-linked-text = An account at another service signs in to yours from now on.
mail-provider-unlinked = An account was unlinked
mail-provider-unlinked-text = An account at another service does not sign in to yours any more.
mail-api-token-created = An API token was created
mail-api-token-created-text = A program with this token may act for you from now on.
