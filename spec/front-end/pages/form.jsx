import { Head, useForm } from "@inertiajs/react";
import { Layout } from "../layout.jsx";

export function Page() {
  const { data, setData, post, delete: remove, processing, errors } = useForm({ name: "", target: "" });
  const submit = (event) => {
    event.preventDefault();
    post("/form");
  };
  return (
    <form onSubmit={submit}>
      <Head title="Form" />
      <input id="name" value={data.name} onChange={(event) => setData("name", event.target.value)} />
      {errors.name && <p id="name-error">{errors.name}</p>}
      <input id="target" value={data.target} onChange={(event) => setData("target", event.target.value)} />
      {errors.target && <p id="target-error">{errors.target}</p>}
      <button id="save" disabled={processing} type="submit">
        save
      </button>
      <button id="remove" type="button" onClick={() => remove("/form")}>
        remove
      </button>
    </form>
  );
}
Page.layout = (shown) => <Layout>{shown}</Layout>;
