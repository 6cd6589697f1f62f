# The titles of problems, and the messages at the fields of forms. A schema names the messages whose code it shares with others.

problem-bad-request = Bad request
problem-malformed-json = Malformed JSON request body
problem-authentication = Authentication required
problem-authorization = Access denied
problem-scope = Forbidden
problem-role = Forbidden
problem-confirmation = Forbidden
problem-cross-site = Forbidden
problem-csrf = CSRF check failed
problem-not-found = Resource not found
problem-method-not-allowed = Method not allowed
problem-timeout = Request timed out
problem-conflict = Request conflicts with current state
problem-payload-too-large = Request body too large
problem-unsupported-media-type = Unsupported media type
problem-validation = Validation failed
problem-rate-limit = Rate limit exceeded
problem-internal = Internal server error
problem-unavailable = Service unavailable

no-link = no link { $slug }
slug-taken = the slug { $slug } is taken

validation-invalid_format = { $message ->
    [slug] 3 to 32 lower-case letters, digits or hyphens
    [url] an absolute http or https URL
    [email] an address such as ada@example.org
   *[other] { $message }
 }
validation-too_small = { $message ->
    [password] at least 8 characters
    [token-name] a name, by which you know it again
   *[other] { $message }
 }
validation-too_big = { $message ->
    [url] at most 2048 characters
   *[other] { $message }
 }
validation-custom = { $message ->
    [taken] that name is taken
   *[other] { $message }
 }
validation-email = is no e-mail address
validation-too-short = has fewer than 8 characters
validation-too-long = has too many characters
