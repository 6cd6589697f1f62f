import { type ContextOf, Controller, Get, Post, Put, routes } from "@stagecraft/framework";
import { TokenIssuer } from "@stagecraft/framework/auth/jwt";
import { z } from "zod";
import { Errors, unauthorized } from "../errors.js";
import { Login, NewUser, UserChange } from "./user-input.js";
import { type User, Users } from "./users.js";
import { signedIn } from "./viewer.js";

const Account = z.object({
  user: z.object({
    username: z.string(),
    email: z.string(),
    bio: z.string().nullable(),
    image: z.string().nullable(),
    token: z.string(),
  }),
});

const users = routes("users", "/api", {
  register: Post("/users", { body: NewUser, responses: { 201: Account, 409: Errors } }),
  login: Post("/users/login", { body: Login, responses: { 200: Account, 401: Errors } }),
  current: Get("/user", { guards: [signedIn], responses: { 200: Account } }),
  change: Put("/user", { guards: [signedIn], body: UserChange, responses: { 200: Account, 409: Errors } }),
});

@Controller(users)
export class UsersController {
  constructor(
    private readonly store: Users,
    private readonly tokens: TokenIssuer,
  ) {}

  @users.register
  async register({ input }: ContextOf<typeof users.register>) {
    const { username, email, password } = input.body.user;
    return this.shown(await this.store.add(username, email, password));
  }

  @users.login
  async login({ input }: ContextOf<typeof users.login>) {
    const { email, password } = input.body.user;
    const found = await this.store.identify(email, password);
    if (found === undefined) throw unauthorized("credentials", "invalid");
    return this.shown(found);
  }

  @users.current
  async current({ viewer }: ContextOf<typeof users.current>) {
    return this.shown(await this.store.find(viewer));
  }

  @users.change
  async change({ viewer, input }: ContextOf<typeof users.change>) {
    return this.shown(await this.store.change(viewer, input.body.user));
  }

  private async shown(user: User | undefined) {
    if (user === undefined) throw unauthorized("token", "is invalid");
    const { id, username, email, bio, image } = user;
    return { user: { username, email, bio, image, token: await this.tokens.issue(String(id)) } };
  }
}
