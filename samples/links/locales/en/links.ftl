# The pages of links, and what their forms say.

page-welcome = Short links, honestly counted.
page-welcome-text = Turn a long address into one that fits on a card. See how often it is followed, day by day. Nobody who follows it is tracked.
page-first-link = Make your first link
page-have-account = I have an account
page-description = Short links, and how often they are followed.

page-search = Search
page-search-links = Search links
page-search-for = Search for { $query }
page-links = { $count ->
    [one] { $count } link
   *[other] { $count } links
 }
page-no-links = No links yet.
page-no-links-first = No links yet: make the first one.
page-no-match = Nothing matches “{ $query }”.
page-load-more = Load more
page-loading = Loading…
page-visits = { $count ->
    [one] { $number } visit
   *[other] { $number } visits
 }
page-yours = yours
page-details = Details
page-details-of = Details of { $slug }

page-new-link = A new link
page-shorten = Shorten
page-long-address = Long address
page-name-optional = Name (optional)
page-name-example = my-link
page-name-free = That name is free.

page-ranking-description = The most visited links.
page-counted-anew = Counted anew every few seconds.
page-back = Back
page-all-links = All links

page-leads-to = leads to { $target }
page-open = Open
page-copy = Copy
page-copied = Copied
page-visit-count = Visits
page-made-on = Made on
page-date = { DATETIME($at, dateStyle: "long") }
page-visits-by-day = Visits by day
page-visits-loading = The visits by day are on their way
page-day = Day
page-visits-lately = { $count ->
    [0] Nobody has followed this link in the last 14 days.
   *[other] { $count } in the last 14 days, by day in UTC.
 }
page-refresh = Refresh
page-picture = Picture
page-picture-rules = A PNG, JPEG, GIF or WebP file of at most 256 KiB
page-upload = Upload
page-remove-link = Remove this link
page-remove-link-text = People who follow it then find nothing. This cannot be undone.
page-remove-slug = Remove { $slug }

flash-link-ready = The link { $slug } is ready.
flash-link-removed = The link { $slug } is removed.
flash-link-picture = The link { $slug } has a picture.

field-name-taken = that name is taken
field-picture-size = at most 256 KiB
field-picture-missing = choose a picture
field-picture-type = a PNG, JPEG, GIF or WebP picture

about = A link shortener, and the example to copy from.
