package httpconnector

import (
	"errors"
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"vayu/internal/testing/fixture"
)

const withCallback = simple + `
callback:
  signature: {header: X-Signature, secret: "${SECRET}", over: "{timestamp}.{body}", timestamp-header: X-Time, prefix: sha256=, tolerance: 1m}
  answer:
    reference: data.ref
    status: {path: data.status, values: {SUCCESS: done}}
`

const callbackBody = `{"data":{"ref":"r1","status":"SUCCESS"}}`

// Made with printf '1795004800.…' | openssl dgst -sha256 -hmac 0123456789abcdef.
const callbackSignature = "sha256=9f251052c30e9fd9a8b1c9290835c6b1b88e56a2a550f181eda5e1ab2a31d638"

// errAny stands for an error other than those of the signature.
var errAny = errors.New("another")

func TestCallbackSignatureIsVerified(t *testing.T) {
	t.Parallel()
	head := func(pairs ...string) http.Header {
		h := http.Header{"X-Signature": {callbackSignature}, "X-Time": {strconv.FormatInt(noon.Unix(), 10)}}
		for i := 0; i < len(pairs); i += 2 {
			h[pairs[i]] = strings.Split(pairs[i+1], "|")
			if pairs[i+1] == "" {
				delete(h, pairs[i])
			}
		}
		return h
	}
	signed := func(body string) http.Header {
		d, err := parse(strings.Replace(withCallback, "URL", "https://shop.example", 1))
		if err != nil {
			t.Fatal(err)
		}
		value, err := d.callback.signer.sign(map[string]any{"timestamp": strconv.FormatInt(noon.Unix(), 10), "body": body})
		if err != nil {
			t.Fatal(err)
		}
		return head("X-Signature", value)
	}
	for name, c := range map[string]struct {
		header  http.Header
		body    string
		after   time.Duration
		want    error
		outcome string
	}{
		"good":                 {head(), callbackBody, 0, nil, "ok"},
		"in capitals":          {head("X-Signature", "sha256="+strings.ToUpper(callbackSignature[7:])), callbackBody, 0, nil, "ok"},
		"a minute old":         {head(), callbackBody, time.Minute, nil, "ok"},
		"older":                {head(), callbackBody, time.Minute + time.Second, ErrStale, "not_genuine"},
		"of the future":        {head(), callbackBody, -time.Minute - time.Second, ErrStale, "not_genuine"},
		"without signature":    {head("X-Signature", ""), callbackBody, 0, ErrNoSignature, "not_genuine"},
		"without time":         {head("X-Time", ""), callbackBody, 0, ErrNoSignature, "not_genuine"},
		"another time":         {head("X-Time", "1795004801"), callbackBody, 0, ErrSignature, "not_genuine"},
		"another body":         {head(), callbackBody + " ", 0, ErrSignature, "not_genuine"},
		"without prefix":       {head("X-Signature", callbackSignature[7:]), callbackBody, 0, ErrSignature, "not_genuine"},
		"short":                {head("X-Signature", callbackSignature[:20]), callbackBody, 0, ErrSignature, "not_genuine"},
		"no code":              {head("X-Signature", "sha256=xyz"), callbackBody, 0, ErrSignature, "not_genuine"},
		"empty":                {head("X-Signature", "sha256="), callbackBody, 0, ErrSignature, "not_genuine"},
		"two signatures":       {head("X-Signature", "sha256=00|"+callbackSignature), callbackBody, 0, ErrSignature, "not_genuine"},
		"two times":            {head("X-Time", "1795004800|1"), callbackBody, 0, ErrSignature, "not_genuine"},
		"of another secret":    {head("X-Signature", "sha256="+strings.Repeat("0", 64)), callbackBody, 0, ErrSignature, "not_genuine"},
		"an unmapped value":    {signed(`{"data":{"ref":"r1","status":"secret-word"}}`), `{"data":{"ref":"r1","status":"secret-word"}}`, 0, errAny, "not_mapped"},
		"without a reference":  {signed(`{"data":{"status":"SUCCESS"}}`), `{"data":{"status":"SUCCESS"}}`, 0, errAny, "not_mapped"},
		"no JSON":              {signed(`secret-word`), `secret-word`, 0, errAny, "not_understood"},
		"nothing":              {signed(``), ``, 0, errAny, "not_understood"},
		"a name that is twice": {signed(`{"data":{"ref":"r1","ref":"secret-word","status":"SUCCESS"}}`), `{"data":{"ref":"r1","ref":"secret-word","status":"SUCCESS"}}`, 0, errAny, "not_understood"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var out fixture.Log
			reg := prometheus.NewRegistry()
			client := open(t, withCallback, "https://shop.example", Options{Metrics: NewMetrics(reg), Log: slog.New(slog.NewTextHandler(&out, nil))})
			reply, err := client.Receive(c.header, []byte(c.body), noon.Add(c.after))
			switch {
			case c.want == nil && (err != nil || reply.Fields["reference"] != "r1" || reply.Fields["status"] != "done"):
				t.Errorf("got %v, %v", reply, err)
			case errors.Is(c.want, errAny) && (err == nil || errors.Is(err, ErrSignature) || errors.Is(err, ErrNoSignature) || errors.Is(err, ErrStale)),
				c.want != nil && !errors.Is(c.want, errAny) && !errors.Is(err, c.want):
				t.Errorf("got %v, want %v", err, c.want)
			}
			if fixture.MetricValue(t, reg, "vayu_provider_callbacks_total", "outcome", c.outcome, "provider", "shop") != 1 {
				t.Errorf("it is not counted as %s", c.outcome)
			}
			for _, text := range []string{out.String(), errorText(err)} {
				if got, want := strings.Contains(text, "secret-word"), name == "an unmapped value"; got != want {
					t.Errorf("got %s, want a word of the request in it: %v", text, want)
				}
			}
		})
	}
}

func TestUnexpectedCallbackIsRefused(t *testing.T) {
	t.Parallel()
	client := open(t, simple, "https://shop.example", Options{})
	if _, err := client.Receive(http.Header{}, []byte(callbackBody), noon); !errors.Is(err, ErrNoSignature) {
		t.Errorf("got %v", err)
	}
}
