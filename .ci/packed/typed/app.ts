import { Application, type Context, Controller, Get, Injectable, Module } from "@stagecraft/framework";

@Injectable()
class LinkStore {
  find(id: string): { readonly id: string; readonly url: string } {
    return { id, url: `https://example.org/${id}` };
  }
}

const show = Get("/links/{id}", "links.show");

@Controller()
class LinksController {
  constructor(private readonly store: LinkStore) {}

  @show
  show({ params }: Context<"id">) {
    return this.store.find(params.id);
  }
}

@Module({ controllers: [LinksController], providers: [LinkStore] })
class ShopModule {}

await Application.create(ShopModule).build().run();
