/** The sources of the front end of a new project, for each library. */
import type { ProjectFile } from "./project-file.js";

export interface FrontEndFiles {
  readonly files: readonly ProjectFile[];
  /** The form that signs the person out, which replaces `SIGN_OUT`. */
  readonly signOut: string;
  /** The page of the forms of the accounts. */
  readonly form: ProjectFile;
}

/** Stands at the end of the line above, so that nothing is left of it without accounts. */
export const SIGN_OUT = "[sign-out]";

const REACT: FrontEndFiles = {
  files: [
    [
      "pages/main.tsx",
      `/** Starts the front end in a browser. A page is the file of its name, which the browser loads when it is visited. */
import { createInertiaApp } from "@inertiajs/react";
import type { ComponentType } from "react";
import { createRoot } from "react-dom/client";

const pages = import.meta.glob<{ readonly default: ComponentType }>("./**/*.page.tsx");

void createInertiaApp({
  progress: { includeCSS: false },
  resolve: async (name) => {
    const load = pages[\`./\${name}.page.tsx\`];
    if (load === undefined) throw new Error(\`there is no page \${name}\`);
    return (await load()).default;
  },
  setup({ el, App, props }) {
    createRoot(el).render(<App {...props} />);
  },
});
`,
    ],
    [
      "pages/notes/index.page.tsx",
      `import { Form } from "@inertiajs/react";
import type { PageProps } from "@stagecraft/framework/pages";
import type {} from "../../src/notes/notes.routes.js";

export default function Notes({ notes }: PageProps<"notes/index">) {
  return (
    <main>
      <h1>Notes</h1>${SIGN_OUT}
      <Form action="/notes" method="post" resetOnSuccess>
        {({ errors }) => (
          <>
            <label htmlFor="text">New note</label> <input id="text" name="text" required /> <button>Save</button>
            <p role="alert">{errors["text"]}</p>
          </>
        )}
      </Form>
      <ul>
        {notes.map(({ id, text }) => (
          <li key={id}>{text}</li>
        ))}
      </ul>
    </main>
  );
}
`,
    ],
  ],
  signOut: `
      <Form action="/account/sign-out" method="post">
        <button>Sign out</button>
      </Form>`,
  form: [
    "pages/accounts/form.page.tsx",
    `import { Form, Link } from "@inertiajs/react";
import type { PageProps } from "@stagecraft/framework/pages";
import type {} from "../../src/accounts/account.routes.js";

export default function AccountForm({ title, action, fields, links }: PageProps<"accounts/form">) {
  return (
    <main>
      <h1>{title}</h1>
      {action !== "" && (
        <Form action={action} method="post" key={action}>
          {({ errors }) => (
            <>
              {fields.map((name) => (
                <p key={name}>
                  <label htmlFor={name}>{name}</label> <input id={name} name={name} type={TYPES[name]} required />{" "}
                  <span role="alert">{errors[name]}</span>
                </p>
              ))}
              <button>{title}</button>
            </>
          )}
        </Form>
      )}
      {links.map(({ href, text }) => (
        <p key={href}>
          <Link href={href}>{text}</Link>
        </p>
      ))}
    </main>
  );
}

const TYPES = { name: "text", email: "email", password: "password" };
`,
  ],
};

const VUE: FrontEndFiles = {
  files: [
    [
      "pages/main.ts",
      `/** Starts the front end in a browser. A page is the file of its name, which the browser loads when it is visited. */
import { createInertiaApp } from "@inertiajs/vue3";
import { createApp, h, type DefineComponent } from "vue";

const pages = import.meta.glob<{ readonly default: DefineComponent }>("./**/*.page.vue");

void createInertiaApp({
  progress: { includeCSS: false },
  resolve: async (name) => {
    const load = pages[\`./\${name}.page.vue\`];
    if (load === undefined) throw new Error(\`there is no page \${name}\`);
    return (await load()).default;
  },
  setup({ el, App, props, plugin }) {
    createApp({ render: () => h(App, props) })
      .use(plugin)
      .mount(el);
  },
});
`,
    ],
    [
      "pages/notes/index.page.vue",
      `<script setup lang="ts">
import { Form } from "@inertiajs/vue3";

defineProps<{ notes: readonly { id: string; text: string }[] }>();
</script>

<template>
  <main>
    <h1>Notes</h1>${SIGN_OUT}
    <Form action="/notes" method="post" reset-on-success v-slot="{ errors }">
      <label for="text">New note</label> <input id="text" name="text" required /> <button>Save</button>
      <p role="alert">{{ errors.text }}</p>
    </Form>
    <ul>
      <li v-for="note in notes" :key="note.id">{{ note.text }}</li>
    </ul>
  </main>
</template>
`,
    ],
  ],
  signOut: `
    <Form action="/account/sign-out" method="post"><button>Sign out</button></Form>`,
  form: [
    "pages/accounts/form.page.vue",
    `<script setup lang="ts">
import { Form, Link } from "@inertiajs/vue3";

type Field = "name" | "email" | "password";

defineProps<{
  title: string;
  action: string;
  fields: readonly Field[];
  links: readonly { href: string; text: string }[];
}>();

const types = { name: "text", email: "email", password: "password" };
</script>

<template>
  <main>
    <h1>{{ title }}</h1>
    <Form v-if="action !== ''" :key="action" :action="action" method="post" v-slot="{ errors }">
      <p v-for="name in fields" :key="name">
        <label :for="name">{{ name }}</label> <input :id="name" :name="name" :type="types[name]" required />
        <span role="alert">{{ errors[name] }}</span>
      </p>
      <button>{{ title }}</button>
    </Form>
    <p v-for="link in links" :key="link.href">
      <Link :href="link.href">{{ link.text }}</Link>
    </p>
  </main>
</template>
`,
  ],
};

const SVELTE: FrontEndFiles = {
  files: [
    [
      "pages/main.ts",
      `/** Starts the front end in a browser. A page is the file of its name, which the browser loads when it is visited. */
import { createInertiaApp, type ResolvedComponent } from "@inertiajs/svelte";
import { mount } from "svelte";

const pages = import.meta.glob<ResolvedComponent>("./**/*.page.svelte");

void createInertiaApp({
  progress: { includeCSS: false },
  resolve: async (name) => {
    const load = pages[\`./\${name}.page.svelte\`];
    if (load === undefined) throw new Error(\`there is no page \${name}\`);
    return load();
  },
  setup({ el, App, props }) {
    if (el !== null) mount(App, { target: el, props });
  },
});
`,
    ],
    [
      "pages/notes/index.page.svelte",
      `<script lang="ts">
  import { Form } from "@inertiajs/svelte";

  const { notes }: { notes: readonly { id: string; text: string }[] } = $props();
</script>

<main>
  <h1>Notes</h1>${SIGN_OUT}
  <Form action="/notes" method="post" resetOnSuccess>
    {#snippet children({ errors }: { errors: Record<string, string> })}
      <label for="text">New note</label> <input id="text" name="text" required /> <button>Save</button>
      <p role="alert">{errors["text"]}</p>
    {/snippet}
  </Form>
  <ul>
    {#each notes as { id, text } (id)}
      <li>{text}</li>
    {/each}
  </ul>
</main>
`,
    ],
  ],
  signOut: `
  <Form action="/account/sign-out" method="post"><button>Sign out</button></Form>`,
  form: [
    "pages/accounts/form.page.svelte",
    `<script lang="ts">
  import { Form, Link } from "@inertiajs/svelte";

  type Field = "name" | "email" | "password";

  interface Props {
    title: string;
    action: string;
    fields: readonly Field[];
    links: readonly { href: string; text: string }[];
  }

  const { title, action, fields, links }: Props = $props();
  const types = { name: "text", email: "email", password: "password" };
</script>

<main>
  <h1>{title}</h1>
  {#if action !== ""}
    {#key action}
      <Form {action} method="post">
        {#snippet children({ errors }: { errors: Record<string, string> })}
          {#each fields as name (name)}
            <p>
              <label for={name}>{name}</label> <input id={name} {name} type={types[name]} required />
              <span role="alert">{errors[name]}</span>
            </p>
          {/each}
          <button>{title}</button>
        {/snippet}
      </Form>
    {/key}
  {/if}
  {#each links as { href, text } (href)}
    <p><Link {href}>{text}</Link></p>
  {/each}
</main>
`,
  ],
};

export const FRONT_ENDS = { react: REACT, vue: VUE, svelte: SVELTE } as const;
