import { defineConfig } from "@kubb/core";
import { pluginClient } from "@kubb/plugin-client";
import { pluginOas } from "@kubb/plugin-oas";
import { pluginTs } from "@kubb/plugin-ts";

const barrelType = false;

export default defineConfig({
  root: ".",
  input: { path: "./documents/conduit.json" },
  output: { path: "./generated/kubb", clean: true, barrelType },
  plugins: [
    pluginOas({ validate: false }),
    pluginTs({ output: { path: "models", barrelType } }),
    pluginClient({ output: { path: "clients", barrelType }, client: "fetch" }),
  ],
});
