/** The texts of the support desk in its three languages, of which one is written from right to left. */
import { Languages } from "@stagecraft/framework/i18n";

const en = `
page-sign-in = Sign in
page-company = Sign in with the company
page-email = E-mail address
page-password = Password
page-sign-out = Sign out
page-desk = Support desk
page-open = { $count ->
    [one] one open ticket
   *[other] { $count } open tickets
 }
page-linked = Linked accounts
page-link = Link the account of the company
page-problem = The sign-in did not succeed ({ $kind }).
page-confirm = Confirm your address
problem-validation = Some values are not valid
problem-scope = The token may not do this
validation-too_small = This text is too short.
validation-invalid_format = This is not an e-mail address.
mail-received = We have received your request: { $subject }
mail-confirm = Confirm your address
`;

const de = `
page-sign-in = Anmelden
page-company = Mit dem Firmenkonto anmelden
page-email = E-Mail-Adresse
page-password = Passwort
page-sign-out = Abmelden
page-desk = Kundendienst
page-open = { $count ->
    [one] eine offene Anfrage
   *[other] { $count } offene Anfragen
 }
page-linked = Verknüpfte Konten
page-link = Das Firmenkonto verknüpfen
page-problem = Die Anmeldung ist nicht gelungen ({ $kind }).
page-confirm = Adresse bestätigen
problem-validation = Einige Angaben sind ungültig
problem-scope = Der Token erlaubt das nicht
validation-too_small = Dieser Text ist zu kurz.
validation-invalid_format = Das ist keine E-Mail-Adresse.
mail-received = Wir haben Ihre Anfrage erhalten: { $subject }
mail-confirm = Bestätigen Sie Ihre Adresse
`;

const ar = `
page-sign-in = تسجيل الدخول
page-company = تسجيل الدخول بحساب الشركة
page-email = البريد الإلكتروني
page-password = كلمة المرور
page-sign-out = تسجيل الخروج
page-desk = مكتب الدعم
page-open = { $count ->
    [zero] لا توجد طلبات مفتوحة
    [one] طلب مفتوح واحد
    [two] طلبان مفتوحان
    [few] { $count } طلبات مفتوحة
   *[other] { $count } طلبًا مفتوحًا
 }
page-linked = الحسابات المرتبطة
page-link = ربط حساب الشركة
page-problem = لم ينجح تسجيل الدخول ({ $kind }).
page-confirm = أكّد عنوانك
problem-validation = بعض القيم غير صالحة
problem-scope = لا يسمح الرمز بهذا
validation-too_small = هذا النص قصير جدًا.
validation-invalid_format = هذا ليس عنوان بريد إلكتروني.
mail-received = لقد استلمنا طلبك: { $subject }
mail-confirm = أكّد عنوانك
`;

export const languages = new Languages({ catalogs: { en, de, ar }, default: "en" });
