import { Head, InfiniteScroll } from "@inertiajs/react";
import { nonce } from "../nonce.js";
import { Layout } from "../layout.jsx";

export function Page({ items }) {
  return (
    <>
      <Head title="List">
        <style head-key="look" nonce={nonce}>{`.item { color: rgb(1, 2, 3); }`}</style>
      </Head>
      <InfiniteScroll data="items">
        {items.data.map(({ id }) => (
          <p className="item" key={id} style={{ height: 200 }}>
            {id}
          </p>
        ))}
      </InfiniteScroll>
    </>
  );
}
Page.layout = (shown) => <Layout>{shown}</Layout>;
