/**
 * The second step, as a list of bindings after those of `authentication()`. Without it no sign-in asks for one.
 *
 * @example
 * providers: [
 *   AppUsers,
 *   ...authentication({ users: AppUsers, keys: settings.authKey }),
 *   ...secondStep({ issuer: "Shop" }),
 *   ...authDatabase(AppDatabase),
 * ]
 */
import { type Binding, provide } from "../../di/provide.js";
import { SecondStep } from "../sign-in/second-step.js";
import { Recovery } from "./recovery.js";
import { SecondStepChanges } from "./second-step-changes.js";
import { type SecondStepOptions, SecondStepSettings } from "./second-step-settings.js";
import { SecondStepSignIn, UserSecondStep } from "./second-step-sign-in.js";
import { Totp } from "./totp.js";

/** @throws FrameworkError `E_OPTION`, `E_AUTH_OPTION` */
export function secondStep(options: SecondStepOptions): readonly Binding[] {
  const settings = new SecondStepSettings(options);
  return [
    provide(SecondStepSettings).useValue(settings),
    provide(SecondStep).useClass(UserSecondStep),
    provide(SecondStepChanges).useClass(SecondStepChanges),
    provide(Recovery).useClass(Recovery),
    provide(Totp).useClass(Totp),
    provide(SecondStepSignIn).useClass(SecondStepSignIn),
  ];
}
