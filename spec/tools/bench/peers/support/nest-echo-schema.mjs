/** The echo of NestJS with its ValidationPipe. It removes members that are not declared, as zod and Ajv do. */
import { Body, Controller, HttpCode, Post, ValidationPipe } from "@nestjs/common";
import { Type } from "class-transformer";
import {
  IsArray,
  IsBoolean,
  IsEmail,
  IsInt,
  IsNumber,
  IsOptional,
  IsString,
  Length,
  Min,
  MinLength,
  ValidateNested,
} from "class-validator";
import { moduleOf } from "./nest-app.mjs";
import { decorate } from "./nest.mjs";

class Owner {}
properties(Owner, {
  name: [IsString(), MinLength(1)],
  email: [IsEmail()],
  scores: [IsArray(), IsNumber({}, { each: true })],
});

class Link {}
properties(Link, {
  id: [IsInt(), Min(1)],
  title: [IsString(), Length(1, 200)],
  public: [IsBoolean()],
  expires: [IsOptional(), IsString()],
  tags: [IsArray(), IsString({ each: true })],
  owner: [ValidateNested(), Type(() => Owner)],
  note: [IsString()],
});

function properties(target, members) {
  for (const [name, decorators] of Object.entries(members))
    for (const decorator of decorators) decorator(target.prototype, name);
}

class CheckedEchoController {
  echo(body) {
    return body;
  }
}
decorate(CheckedEchoController, {
  on: [Controller("echo")],
  members: {
    echo: {
      on: [Post(), HttpCode(200)],
      parameters: [Body(new ValidationPipe({ whitelist: true, transform: true, expectedType: Link }))],
    },
  },
});

export const checkedEchoModule = () => moduleOf({ controllers: [CheckedEchoController] });
