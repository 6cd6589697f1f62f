import { AccountForm, NameField, PasswordField } from "../parts/account-form.js";

const SIGN_IN = { question: "An account already?", href: "/account/sign-in", title: "Sign in" };

/** A shorter name is still being typed. */
const SHORTEST = 3;

export function Page() {
  return (
    <AccountForm title="Sign up" action="/account/sign-up" other={SIGN_IN}>
      {({ errors, check, isFine }) => (
        <>
          <NameField
            hint="3 to 32 lower-case letters, digits or hyphens"
            praise={isFine("name") ? "That name is free." : undefined}
            error={errors["name"]}
            onChange={({ currentTarget }) =>
              (currentTarget.value.length >= SHORTEST || isFine("name")) && check("name")
            }
            onBlur={({ currentTarget }) => currentTarget.value !== "" && check("name")}
          />
          <PasswordField
            hint="At least 8 characters"
            autoComplete="new-password"
            error={errors["password"]}
            onBlur={({ currentTarget }) => currentTarget.value !== "" && check("password")}
          />
        </>
      )}
    </AccountForm>
  );
}
