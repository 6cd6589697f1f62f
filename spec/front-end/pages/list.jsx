import { Head, InfiniteScroll } from "@inertiajs/react";
import { Layout } from "../layout.jsx";

export function Page({ items }) {
  return (
    <>
      <Head title="List" />
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
