/** Koa's routers as layers, in front of the application's own responses. */
const MAJORS = {
  "@koa/router": [9, 10, 11, 12, 13, 14, 15],
  "koa-router": [7, 8, 9, 10, 11, 12, 13, 14],
};

const USE = "`.layer(router.routes(), router.allowedMethods())`";

function sendParams(ctx) {
  ctx.body = { params: ctx.params, same: ctx.request.params, route: ctx._matchedRoute };
}

async function run(host, module) {
  const Router = module.Router ?? module;
  const inner = new Router();
  inner.get("/links/:link", sendParams);
  const router = new Router();
  router.use(async (ctx, next) => {
    ctx.set("X-Used", "yes");
    await next();
  });
  router.param("user", (user, ctx, next) => {
    ctx.state.user = `user ${user}`;
    return next();
  });
  router.get("/users/:id", sendParams);
  router.put("/users/:id", sendParams);
  router.get("named", "/by/:user/:year", (ctx) => {
    ctx.body = `${ctx.state.user}: ${router.url("named", { user: "ann", year: 2020 })}`;
  });
  router.get("/fails", (ctx) => ctx.throw(418));
  router.redirect("/old", "/users/1");
  router.use("/groups/:group", inner.routes(), inner.allowedMethods());

  host.use(router.routes(), router.allowedMethods());
  await host.start();
  await host.get("/users/7?x=1");
  await host.ask("PUT", "/users/a%20b");
  await host.ask("HEAD", "/users/7");
  await host.get("/by/ann/2020");
  await host.get("/groups/a/links/b");
  await host.get("/fails");
  await host.get("/old");
  await host.get("/none");
  await host.ask("DELETE", "/users/7");
  await host.ask("OPTIONS", "/users/7");
}

export const ROUTERS = Object.entries(MAJORS).flatMap(([name, majors]) =>
  majors.map((major) => ({ package: name, alias: `${name}-${major}`, use: USE, run })),
);
