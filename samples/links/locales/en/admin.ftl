# The page of administrators, and the overview for a developer.

page-figure-links = Links
page-figure-visits = Visits
page-figure-uptime = Running for
page-uptime-days = { $days } d { $hours } h
page-uptime-hours = { $hours } h { $minutes } min
page-uptime-minutes = { $minutes } min
page-site-closed = The site is closed
page-site-closed-text = Visitors see a page that says so. This page and the health checks stay open.
page-site-open = The site is open
page-site-open-text = While it is closed, visitors see a page that says so. This page stays open.
page-close-site = Close the site
page-open-site = Open the site
page-newest-links = Newest links
page-none = There are none.
page-remove = Remove
page-remove-link-question = Remove { $slug }? People who follow it then find nothing.

flash-site-closed = The site is closed. Visitors see a page that says so.
flash-site-open = The site is open again.

page-overview = What runs here
page-overview-stages = Stages that are on, from the outside inwards:
page-overview-places = { $up } is the health of this process. { $metrics } counts requests, for Prometheus; only this machine may read it. { $docs } is the API document. { $mails } has the mails that no server sends. { $admin } is for the accounts whose addresses are in { $admins }. { $guide } begins with the first steps.
page-overview-guide = The guide
page-overview-line = This request is the following line in the terminal, with its time and duration:
