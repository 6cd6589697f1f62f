/** The conventional actions of a resource: their methods, and their paths below that of the resource. */
export const ACTIONS = {
  index: { method: "GET", path: "" },
  create: { method: "GET", path: "/new" },
  store: { method: "POST", path: "" },
  show: { method: "GET", path: "/{id}" },
  edit: { method: "GET", path: "/{id}/edit" },
  update: { method: "PUT", path: "/{id}" },
  destroy: { method: "DELETE", path: "/{id}" },
} as const;
