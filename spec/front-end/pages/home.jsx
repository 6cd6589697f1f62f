import { Head, router } from "@inertiajs/react";
import { Layout } from "../layout.jsx";

export function Page({ greeting, time, extra }) {
  return (
    <>
      <Head title="Home" />
      <h1>{greeting}</h1>
      <p id="time">{time}</p>
      <p id="extra">{extra ?? "no extra"}</p>
      <button id="reload" type="button" onClick={() => router.reload({ only: ["time"] })}>
        time
      </button>
      <button id="more" type="button" onClick={() => router.reload({ only: ["extra"] })}>
        extra
      </button>
    </>
  );
}
Page.layout = (shown) => <Layout>{shown}</Layout>;
