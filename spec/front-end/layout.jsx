import { Link, usePage } from "@inertiajs/react";
import { useState } from "react";

/** Stays mounted from page to page: the counter shows whether it did. */
export function Layout({ children }) {
  const { flash, props, url, version } = usePage();
  const [count, setCount] = useState(0);
  return (
    <>
      <nav>
        <Link href="/">home</Link> <Link href="/list">list</Link> <Link href="/form">form</Link>{" "}
        <Link href="/slow">slow</Link> <Link href="/missing">missing</Link> <Link href="/away">away</Link>{" "}
        <Link href="/part">part</Link> <Link href="/empty">empty</Link>
      </nav>
      <button id="count" type="button" onClick={() => setCount(count + 1)}>
        {count}
      </button>
      <p id="shown">
        {url} {version} {props.visitor}
      </p>
      {flash.notice && <p id="flash">{flash.notice}</p>}
      <main>{children}</main>
    </>
  );
}
