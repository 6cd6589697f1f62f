# The frame of every page, and the pages for errors. An error page without props shows these in English.

page-skip = Skip to content
page-visitor = Account
page-sign-in = Sign in
page-sign-up = Sign up
page-sign-out = Sign out
page-your-account = Your account
page-sample = A sample of Stagecraft.
page-more = More
page-language = Language
page-most-visited = Most visited
page-administration = Administration

page-error-403 = Not allowed
page-error-403-text = Your account may not do this, or the request came from elsewhere.
page-error-404 = Not found
page-error-404-text = There is nothing at this address, or no longer.
page-error-422 = No such address
page-error-422-text = No link and no page has an address like this one.
page-error-429 = Too many requests
page-error-429-text = Those were many requests at once. Please wait a moment.
page-error-503 = Back in a moment
page-error-503-text = We are not there right now. Please try again shortly.
page-error-4xx = This did not work
page-error-4xx-text = This request cannot be processed as it is.
page-error-5xx = Something went wrong
page-error-5xx-text = The fault is on our side. It is in our log, and we look at it.
page-try-again = Try again
page-to-the-links = To the links
