import { Head } from "@inertiajs/react";
import { Layout } from "../layout.jsx";

export default function Failure({ status }) {
  return (
    <>
      <Head title="Failure" />
      <h1>failure {status}</h1>
    </>
  );
}
Failure.layout = (page) => <Layout>{page}</Layout>;
