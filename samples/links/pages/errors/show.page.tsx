/** The page for an error, in words for people. */
import { Head, Link } from "@inertiajs/react";
import type { PropsOf } from "@stagecraft/framework/pages";
import type { errorsShow } from "../../contracts.js";

const TITLES: Readonly<Record<number, string>> = {
  403: "Not allowed",
  404: "Not found",
  422: "No such address",
  429: "Too many requests",
  500: "Something went wrong",
  503: "Back in a moment",
};

export function Page({ status }: PropsOf<typeof errorsShow>) {
  const title = TITLES[status] ?? (status < 500 ? "This did not work" : "Something went wrong");
  return (
    <section className="problem">
      <Head title={title} />
      <p className="code" aria-hidden="true">
        {status}
      </p>
      <h1>{title}</h1>
      <p className="lead">{wordsFor(status)}</p>
      <p className="actions">
        {status === 503 ? (
          <a className="button" href="">
            Try again
          </a>
        ) : (
          <Link className="button" href="/">
            To the links
          </Link>
        )}
      </p>
    </section>
  );
}

function wordsFor(status: number): string {
  if (status === 403) return "Your account may not do this, or the request came from elsewhere.";
  if (status === 404) return "There is nothing at this address, or no longer.";
  if (status === 422) return "No link and no page has an address like this one.";
  if (status === 429) return "Those were many requests at once. Please wait a moment.";
  if (status === 503) return "We are not there right now. Please try again shortly.";
  return status < 500
    ? "This request cannot be processed as it is."
    : "The fault is on our side. It is in our log, and we look at it.";
}
