import { Context, Controller, Delete, Get, Middleware, Post, routes } from "@stagecraft/framework";
import { notFound } from "../errors.js";
import { getPossibleViewer, Recognized, SignedIn, getViewer } from "../users/viewer.js";
import { Profiles } from "./profiles.js";

const profiles = routes("profiles", "/api/profiles/{username}", {
  show: Get("/"),
  follow: Post("/follow"),
  unfollow: Delete("/follow"),
});

@Controller(profiles)
@Middleware(Recognized)
export class ProfilesController {
  constructor(private readonly store: Profiles) {}

  @profiles.show
  async show(ctx: Context<"username">) {
    const { username, bio, image, following } = await this.found(ctx);
    return { profile: { username, bio, image, following } };
  }

  @profiles.follow
  @Middleware(SignedIn)
  async follow(ctx: Context<"username">) {
    const { id } = await this.found(ctx);
    await this.store.follow(getViewer(ctx), id);
    return this.show(ctx);
  }

  @profiles.unfollow
  @Middleware(SignedIn)
  async unfollow(ctx: Context<"username">) {
    const { id } = await this.found(ctx);
    await this.store.unfollow(getViewer(ctx), id);
    return this.show(ctx);
  }

  private async found(ctx: Context<"username">) {
    const profile = await this.store.find(ctx.params.username, getPossibleViewer(ctx));
    if (profile === undefined) throw notFound("profile");
    return profile;
  }
}
