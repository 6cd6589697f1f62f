/** NestJS with a filter that sends every error as a problem. */
import { Catch, HttpException } from "@nestjs/common";
import { HttpAdapterHost } from "@nestjs/core";
import { problem } from "./observability.mjs";

class ProblemFilter {
  constructor(adapter) {
    this.adapter = adapter;
  }

  catch(error, host) {
    const response = host.switchToHttp().getResponse();
    const status = error instanceof HttpException ? error.getStatus() : (error.statusCode ?? error.status ?? 500);
    this.adapter.setHeader(response, "content-type", "application/problem+json");
    this.adapter.reply(
      response,
      JSON.stringify(problem(status, status < 500 ? error.message : "Internal Server Error")),
      status,
    );
  }
}
Catch()(ProblemFilter);

export function problems(app) {
  app.useGlobalFilters(new ProblemFilter(app.get(HttpAdapterHost).httpAdapter));
}
