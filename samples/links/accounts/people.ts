import { randomBytes, scrypt, timingSafeEqual } from "node:crypto";
import { promisify } from "node:util";
import { Injectable } from "@stagecraft/framework";

const derive = promisify<string, Buffer, number, Buffer>(scrypt);
const HASH_BYTES = 32;

interface Person {
  readonly salt: Buffer;
  readonly hash: Buffer;
}

/** The accounts of people, in memory. Passwords are kept as scrypt hashes. */
@Injectable()
export class People {
  static readonly capacity = 10_000;
  private readonly people = new Map<string, Person>();
  /** Compared with where there is no such person, so that the time of an answer does not tell who has an account. */
  private readonly unknownPerson = { salt: randomBytes(16), hash: randomBytes(HASH_BYTES) };

  has(name: string): boolean {
    return this.people.has(name);
  }

  /** False if the name is taken, or no account is left. */
  async add(name: string, password: string): Promise<boolean> {
    const salt = randomBytes(16);
    const hash = await derive(password, salt, HASH_BYTES);
    if (this.people.has(name) || this.people.size >= People.capacity) return false;
    this.people.set(name, { salt, hash });
    return true;
  }

  async knows(name: string, password: string): Promise<boolean> {
    const { salt, hash } = this.people.get(name) ?? this.unknownPerson;
    return timingSafeEqual(await derive(password, salt, HASH_BYTES), hash);
  }
}
