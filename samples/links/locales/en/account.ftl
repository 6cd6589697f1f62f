# The pages of accounts.

page-email = E-mail address
page-password = Password
page-code = Code
page-go-on = Go on
page-eight-characters = At least 8 characters

page-no-account-yet = No account yet?
page-password-lost = Your password is lost?
page-set-new-password = Set a new one
page-stay-signed-in = Stay signed in on this device
page-sign-in-with-passkey = Sign in with a passkey
page-sign-in-with = Sign in with { $provider }
page-sign-up-with = Sign up with { $provider }
page-account-already = An account already?
page-mail-with-link = You get a mail with a link

page-sent = A mail is on its way
page-sent-to = Open the link in the mail to { $email }.
page-sent-if-account = There is none if the address has no account.
page-sent-nowhere = This server sends no mails.
page-sent-on-page = Yours is on { $page }.
page-sent-all-mails = the page of all mails
page-sent-in-folder = Yours is a file in the folder { $folder }.

page-confirm-address = Confirm your address
page-confirm = Confirm
page-password-of-sign-up = That of the sign-up, because this is another browser
page-new-password = A new password
page-know-again = You know it again?
page-send-link = Send a link
page-mail-if-account = You get a mail, if it has an account
page-set-password = Set a new password
page-new-password-field = New password
page-new-password-rules = At least 8 characters. You are signed out everywhere
page-set-it = Set it

page-password-again = Your password again
page-careful = Before a page that an unlocked device must not open alone.
page-sign-in-again = Sign in again
page-or-set-password = Or { $link }.
page-or-set-password-link = set a password

page-second-step = Second step
page-second-step-app = One step is left: the code of your app.
page-second-step-passkey = One step is left: your passkey.
page-or-recovery-code = Or one of your recovery codes
page-not-you = Not you?
page-start-again = Start again
page-use-passkey = Use a passkey
page-passkey-failed = Your device gave no passkey. Try again, or with another one.

page-devices-tab = Devices
page-security = Security
page-tokens = API tokens
page-linked = Linked accounts
page-time = { DATETIME($at, dateStyle: "medium", timeStyle: "short", hour12: 0) } UTC

page-devices = Your devices
page-this-one = this one
page-stays-signed-in = stays signed in
page-device-used = { $address }, last used { $time }
page-device-on = { $browser } on { $system }
page-device-program = A program
page-sign-out-there = Sign out there
page-sign-out-others = Sign out on all other devices

page-app = Authenticator app
page-app-without = After your password, a sign-in asks for a code that an app on your phone shows.
page-app-with = { $count ->
    [one] A sign-in asks for its code. You have { $count } recovery code for the day on which you have no phone.
   *[other] A sign-in asks for its code. You have { $count } recovery codes for the day on which you have no phone.
 }
page-app-add = Add an app
page-app-remove = Remove the app
page-app-remove-question = Remove the app? Then your password alone signs you in.
page-new-codes = New recovery codes
page-passkeys = Passkeys
page-passkeys-text = A key on your device, which asks for a finger, a face or a PIN. With it you sign in without a password, or after the password as a second step.
page-passkey-signs-in = Signs you in
page-passkey-second-step = Is your second step
page-passkey-name = Name of a new passkey
page-passkey-name-example = Phone
page-passkey = Passkey
page-passkey-add-sign-in = Add to sign in
page-passkey-add-second-step = Add as second step
page-remove-question = Remove { $name }?

page-app-new = Add an authenticator app
page-app-key-text = Add this key to your app, or open the link below it on your phone. It is not shown again.
page-app-key = Key
page-app-link = Link
page-app-add-this = Add the app
page-app-code-hint = The six digits that the app shows now
page-app-which = You need an app such as Aegis, FreeOTP, 2FAS or Google Authenticator. The next page shows a key for it.
page-app-new-key = Start again with a new key
page-app-show-key = Show the key

page-codes = Recovery codes
page-codes-left = You have { $count } of them. New ones take their place.
page-codes-show = Show new codes
page-codes-text = Each of them signs you in once, in the place of the app. Print them: they are not shown again.
page-codes-stored = I have stored them

page-token-created = Your new token
page-token-created-text = Store it now: it is not shown again.
page-token-new = A new token
page-token-new-text = A program that sends it acts for you, at { $path }.
page-token-name = Name
page-token-name-example = Backup script
page-token-may = It may
page-token-may-read = read your links
page-token-may-write = read, make and remove your links
page-token-may-close = close and open the site
page-token-ends-after = It ends after
page-token-days = { $days } days
page-token-year = a year
page-token-make = Make a token
page-tokens-yours = Your tokens
page-token-used = Last used { $time }
page-token-unused = Not used yet
page-token-ends = ends { $time }
page-revoke = Revoke
page-revoke-question = Revoke { $name }? Programs that send it are refused then.

page-linked-at = At { $provider }
page-linked-text = With a linked account you sign in here without a password.
page-linked-no-password = You have no password. { $link }, for the day on which { $provider } is not there.
page-linked-set-password = Set one
page-linked-first = Link your account at { $provider }
page-linked-another = Link another account at { $provider }
page-linked-nameless = An account without an address
page-linked-times = Linked { $linked }, last used { $used }
page-unlink = Unlink
page-unlink-question = Unlink { $name }?

flash-signed-in = You have signed in.
flash-signed-out = You have signed out.
flash-new-password = You have a new password. Sign in with it.
flash-expired = That took too long, or the link was used already.
flash-failed = That did not work.
flash-passkey-refused = That passkey is not accepted here.
flash-page-expired = The page has expired. Please try again.
flash-too-many-attempts = Too many attempts. Try again later.
flash-account-changed = Your account has changed in the meantime. Sign in again.
flash-too-many-tokens = You have too many tokens. Revoke one first.
flash-device-signed-out = That device is signed out.
flash-devices-signed-out = All other devices are signed out.
flash-app-removed = The app is removed, and so are the recovery codes.
flash-passkey-added = The passkey is added.
flash-passkey-removed = The passkey is removed.
flash-token-revoked = The token is revoked.

flash-provider-signed-up = Welcome. You have an account now.
flash-provider-linked = The account is linked. Your other devices are signed out.
flash-provider-unlinked = The account is unlinked. Your other devices are signed out.
flash-provider-link-needed = An account here has that address already. Sign in to it, and link it to { $provider } then.
flash-provider-email-needed = { $provider } has not confirmed your address. Confirm it there, or sign up here.
flash-provider-no-account = You have no account here.
flash-provider-taken = That account at { $provider } belongs to somebody else here.
flash-provider-canceled = You have canceled, and nothing has changed.
flash-provider-refused = { $provider } has refused the sign-in.
flash-provider-expired = That took too long, or was done already. Start again.
flash-provider-unavailable = { $provider } does not respond. Try again in a few minutes.
flash-provider-missing = That account was not linked any more.
flash-provider-last = This account is your only way to sign in. Set a password first.

field-credentials-wrong = address or password are wrong
field-password-wrong = is wrong
field-password-not-of-sign-up = is not that of this sign-up
field-code-wrong = is wrong, or was used already
field-code-not-now = is not the code of now
field-code-late = came too late: start again
field-passkey-failed = The passkey was not added. Try again.
