// Verifies what stands on its input with the stripe package of node_modules, and
// prints one line for each: the event's id, or the kind of the error.
import { readFileSync } from "node:fs";
import Stripe from "stripe";

const { webhooks } = new Stripe("sk_test_none");
for (const { body, header, secret } of JSON.parse(readFileSync(0, "utf8"))) {
  try {
    console.log(webhooks.constructEvent(Buffer.from(body, "base64"), header, secret).id);
  } catch (error) {
    console.log(error.type);
  }
}
