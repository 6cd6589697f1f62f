import { Head } from "@inertiajs/react";
import { Layout } from "../layout.jsx";

export function Page({ status }) {
  return (
    <>
      <Head title="Failure" />
      <h1>failure {status}</h1>
    </>
  );
}
Page.layout = (shown) => <Layout>{shown}</Layout>;
