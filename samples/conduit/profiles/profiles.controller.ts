import { type ContextOf, Controller, Delete, Get, Post, routes } from "@stagecraft/framework";
import { z } from "zod";
import { Errors, notFound } from "../errors.js";
import { anyone, signedIn } from "../users/viewer.js";
import { Profiles } from "./profiles.js";

export const Person = z
  .object({
    username: z.string(),
    bio: z.string().nullable(),
    image: z.string().nullable(),
    following: z.boolean(),
  })
  .meta({ id: "Profile" });

const responses = { 200: z.object({ profile: Person }), 404: Errors };

const profiles = routes("profiles", "/api/profiles/{username}", {
  show: Get("/", { guards: [anyone], responses }),
  follow: Post("/follow", { guards: [signedIn], responses }),
  unfollow: Delete("/follow", { guards: [signedIn], responses }),
});

@Controller(profiles)
export class ProfilesController {
  constructor(private readonly store: Profiles) {}

  @profiles.show
  async show({ params, viewer }: ContextOf<typeof profiles.show>) {
    const { username, bio, image, following } = await this.found(params.username, viewer);
    return { profile: { username, bio, image, following } };
  }

  @profiles.follow
  async follow(ctx: ContextOf<typeof profiles.follow>) {
    const { id } = await this.found(ctx.params.username, ctx.viewer);
    await this.store.follow(ctx.viewer, id);
    return this.show(ctx);
  }

  @profiles.unfollow
  async unfollow(ctx: ContextOf<typeof profiles.unfollow>) {
    const { id } = await this.found(ctx.params.username, ctx.viewer);
    await this.store.unfollow(ctx.viewer, id);
    return this.show(ctx);
  }

  private async found(username: string, viewer: number) {
    const profile = await this.store.find(username, viewer);
    if (profile === undefined) throw notFound("profile");
    return profile;
  }
}
