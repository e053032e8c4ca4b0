// Prints, for each vector on the input, what the verifier of the page says.
import { readFileSync } from "node:fs";
import { verify } from "./verify.mjs";

for (const { secret, header, body, now } of JSON.parse(readFileSync(0, "utf8"))) {
  console.log(verify(secret, header, Buffer.from(body, "base64"), now));
}
