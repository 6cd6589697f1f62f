import { Deferred, Head } from "@inertiajs/react";
import { Layout } from "../layout.jsx";

export function Page({ numbers, broken }) {
  return (
    <>
      <Head title="Slow" />
      <Deferred data="numbers" fallback={<p id="waiting">waiting</p>}>
        <p id="numbers">{numbers?.join(" ")}</p>
      </Deferred>
      <Deferred data="broken" fallback={<p>waiting</p>} rescue={<p id="rescued">no numbers</p>}>
        <p id="broken">{broken}</p>
      </Deferred>
    </>
  );
}
Page.layout = (shown) => <Layout>{shown}</Layout>;
