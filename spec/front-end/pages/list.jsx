import { Head, InfiniteScroll } from "@inertiajs/react";
import { Layout } from "../layout.jsx";

export default function List({ items }) {
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
List.layout = (page) => <Layout>{page}</Layout>;
