/** snippets are functions that verify a delivery, as in docs/webhooks.md. */
export const snippets: readonly { name: string; code: string }[] = [
	{
		name: 'Go',
		code: `// verify reports whether body was signed with secret within five minutes of now.
func verify(secret, header string, body []byte, now time.Time) bool {
	var stamp string
	var signatures []string
	for _, item := range strings.Split(header, ",") {
		switch name, value, _ := strings.Cut(item, "="); name {
		case "t":
			stamp = value
		case "v1":
			signatures = append(signatures, value)
		}
	}
	t, err := strconv.ParseInt(stamp, 10, 64)
	if secret == "" || err != nil || t < now.Unix()-300 || t > now.Unix()+300 {
		return false
	}
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(stamp + "."))
	mac.Write(body)
	want := []byte(hex.EncodeToString(mac.Sum(nil)))
	ok := false
	for _, have := range signatures {
		ok = hmac.Equal([]byte(have), want) || ok
	}
	return ok
}`,
	},
	{
		name: 'Node',
		code: `import { createHmac, timingSafeEqual } from "node:crypto";

// verify reports whether body, a Buffer of the unparsed bytes, was signed with
// secret within five minutes of now. In Express: express.raw({ type: "application/json" }).
export function verify(secret, header, body, now = Date.now() / 1000) {
  const items = String(header).split(",").map((item) => item.split("="));
  const stamp = items.find(([name]) => name === "t")?.[1] ?? "";
  if (!secret || !/^\\d{1,12}$/.test(stamp) || Math.abs(now - Number(stamp)) > 300) return false;
  const want = createHmac("sha256", secret).update(stamp + ".").update(body).digest();
  return items.some(([name, value]) => {
    const have = name === "v1" && /^[0-9a-f]{64}$/.test(value) ? Buffer.from(value, "hex") : null;
    return have !== null && timingSafeEqual(have, want);
  });
}`,
	},
	{
		name: 'Python',
		code: `import hashlib
import hmac
import re
import time


def verify(secret: str, header: str, body: bytes, now: float | None = None) -> bool:
    """Reports whether body, the unparsed bytes, was signed with secret within five minutes of now."""
    items = [item.partition("=")[::2] for item in (header or "").split(",")]
    stamp = next((value for name, value in items if name == "t"), "")
    now = time.time() if now is None else now
    if not secret or not re.fullmatch(r"[0-9]{1,12}", stamp) or abs(now - int(stamp)) > 300:
        return False
    want = hmac.new(secret.encode(), stamp.encode() + b"." + body, hashlib.sha256).hexdigest()
    return any([hmac.compare_digest(value.encode(), want.encode()) for name, value in items if name == "v1"])`,
	},
];
