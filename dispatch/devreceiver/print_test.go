package devreceiver

import (
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"vayu/dispatch/webhook"
)

func TestPrintable(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"plain, हिन्दी ₹":      "plain, हिन्दी ₹",
		"\x1b[31m":             `\u001b[31m`,
		"a\nb\tc\rd":           "a\nb\\u0009c\\u000dd",
		"\u009b2J\u0085\x7f":   `\u009b2J\u0085\u007f`,
		"\u202eabc\u2066":      `\u202eabc\u2066`,
		"\xff\xc3(":            `\xff\xc3(`,
		"\U000e0041\U0001f600": `\udb40\udc41` + "\U0001f600",
		"\ufffd":               "\ufffd",
	} {
		if got := printable(in, "\n"); got != want {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	}
	if got := oneLine(strings.Repeat("x", 500)); len(got) > 210 || !strings.HasSuffix(got, "…") {
		t.Errorf("a long value: %q", got)
	}
}

func TestConnectionErrorsAreExplained(t *testing.T) {
	t.Parallel()
	const from = "http: TLS handshake error from [::1]:7: "
	for logged, want := range map[string]string{
		from + "remote error: tls: bad certificate":               "[::1]:7 does not believe the certificate",
		from + "remote error: tls: unknown certificate authority": "[::1]:7 does not believe the certificate",
		from + "local error: tls: bad record MAC":                 "[::1]:7 seems not to believe the certificate",
		from + "EOF": "a connection from [::1]:7 failed before it brought anything: EOF",
		from + "tls: client offered only unsupported versions: [302]": "a connection from [::1]:7 failed before it brought anything: tls: client",
		"http: Accept error: \x1b[2J":                                 `http: Accept error: \u001b[2J`,
	} {
		if got := failed(logged); !strings.HasPrefix(got, want) || strings.Contains(got, "\n") {
			t.Errorf("%q: got %q, want %q", logged, got, want)
		}
	}
}

func FuzzShow(f *testing.F) {
	for _, body := range []string{"", "{}", event32(), "\x1b]52;c;AAAA\x07", `{"a":"` + "\u202e" + `"}`, strings.Repeat("[", 100), "[1,\n2]"} {
		f.Add([]byte(body))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		shown := show(body)
		if !utf8.ValidString(shown) {
			t.Errorf("%q is no text", shown)
		}
		for _, c := range shown {
			if c != '\n' && c != '\t' && !unicode.IsPrint(c) {
				t.Errorf("%q holds %q", shown, c)
			}
		}
	})
}

// event32 is JSON of the maximum depth that is indented.
func event32() string { return strings.Repeat("[", maxDepth) + strings.Repeat("]", maxDepth) }

func TestDeepBodiesAreNotIndented(t *testing.T) {
	t.Parallel()
	if got := show([]byte(event32())); strings.Count(got, "\n") < maxDepth {
		t.Errorf("got %q", got)
	}
	for _, deep := range [...]string{
		"[" + event32() + "]",
		strings.Repeat(`["]\"]",`, maxDepth+1) + "1" + strings.Repeat("]", maxDepth+1), // brackets in strings
	} {
		if got, want := show([]byte(deep)), deep+"\n"; got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestSince(t *testing.T) {
	t.Parallel()
	at := time.UnixMilli(1_795_000_000_500)
	for _, c := range []struct {
		event webhook.Event
		at    time.Time
		want  time.Duration
		known bool
	}{
		{webhook.Event{ID: "evt_01M7Q5CQYX0N5Z2V5YB9E1WQ3R", Created: 1}, at, 23 * time.Millisecond, true},
		{webhook.Event{ID: "evt_01M7Q5CQYX0N5Z2V5YB9E1WQ3R"}, at.Add(7 * time.Hour), 7 * time.Hour, true},
		{webhook.Event{ID: "evt_1", Created: 1_794_999_990}, at, 11 * time.Second, true},
		{webhook.Event{ID: "evt_1"}, at, 0, false},
	} {
		got, known := since(c.event, c.at)
		if known != c.known || known && got != c.want {
			t.Errorf("%s: got %s %v, want %s %v", c.event.ID, got, known, c.want, c.known)
		}
	}
}
