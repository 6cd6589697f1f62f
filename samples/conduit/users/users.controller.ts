import { Context, Controller, Get, Middleware, Post, Put, Reply, routes } from "@stagecraft/framework";
import { unauthorized } from "../errors.js";
import { Tokens } from "./tokens.js";
import { Login, NewUser, UserChange } from "./user-input.js";
import { type User, Users } from "./users.js";
import { Recognized, SignedIn, getViewer } from "./viewer.js";

const users = routes("users", "/api", {
  register: Post("/users"),
  login: Post("/users/login"),
  current: Get("/user"),
  change: Put("/user"),
});

@Controller(users)
@Middleware(Recognized)
export class UsersController {
  constructor(
    private readonly store: Users,
    private readonly tokens: Tokens,
  ) {}

  @users.register
  async register(ctx: Context) {
    const { user } = await ctx.json(NewUser);
    return Reply.json(this.shown(await this.store.add(user.username, user.email, user.password)), 201);
  }

  @users.login
  async login(ctx: Context) {
    const { user } = await ctx.json(Login);
    const found = await this.store.identify(user.email, user.password);
    if (found === undefined) throw unauthorized("credentials", "invalid");
    return this.shown(found);
  }

  @users.current
  @Middleware(SignedIn)
  async current(ctx: Context) {
    return this.shown(await this.store.find(getViewer(ctx)));
  }

  @users.change
  @Middleware(SignedIn)
  async change(ctx: Context) {
    const { user } = await ctx.json(UserChange);
    return this.shown(await this.store.change(getViewer(ctx), user));
  }

  private shown(user: User | undefined) {
    if (user === undefined) throw unauthorized("token", "is invalid");
    const { id, username, email, bio, image } = user;
    return { user: { username, email, bio, image, token: this.tokens.of(id) } };
  }
}
