package sender

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// sendTo sends a signed request to a receiver that answers with a text.
func sendTo(t *testing.T, answer string) Result {
	t.Helper()
	p := testPost("http://" + listen(t, "127.0.0.1:0", nil, answering(answer)))
	p.Sign = func(time.Time) (string, error) { return "t=1,v1=ab", nil }
	return newSender(t, Config{}).Send(t.Context(), p)
}

func TestHeaderOfAnswerIsKeptWithoutSecrets(t *testing.T) {
	t.Parallel()
	got := sendTo(t, "HTTP/1.1 302 Found\r\nX-Request-Id: 7\r\nset-cookie: sid=1\r\nSet-Cookie: theme=dark\r\nX-Amz-Security-Token: abc\r\nProxy-Authorization: Basic x\r\n"+
		"Location: https://user:pw@sso.example/login?code=42\r\nContent-Location: /in#access_token=1\r\nX-Auth: a\r\nX-Access-Key: b\r\nX-Jwt: c\r\nLink: </next>\r\nContent-Length: 0\r\n\r\n")
	want := `Content-Length: 0
Content-Location: /in#[masked]
Link: </next>
Location: https://sso.example/login?[masked]
Proxy-Authorization: [masked]
Set-Cookie: [masked]
Set-Cookie: [masked]
X-Access-Key: [masked]
X-Amz-Security-Token: [masked]
X-Auth: [masked]
X-Jwt: [masked]
X-Request-Id: 7
`
	if diff := cmp.Diff(want, got.Header); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got.Signature != "t=1,v1=ab" {
		t.Errorf("Signature = %q, want the sent one", got.Signature)
	}
}

func TestHeaderOfAnswerIsBounded(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 600)
	fields := "A: " + long + "\r\nB: " + long + "\r\nC: " + long + "\r\nD: " + long + "\r\nE: e\r\n"
	got := sendTo(t, "HTTP/1.1 200 OK\r\n"+fields+"Content-Length: 0\r\n\r\n").Header
	if len(got) > keptHeader {
		t.Errorf("%d bytes are kept, want at most %d", len(got), keptHeader)
	}
	lines := strings.Split(got, "\n")
	if first, want := lines[0], "A: "+long[:keptValue]+Cut; first != want {
		t.Errorf("the first line is %q, want %q", first, want)
	}
	if last := lines[len(lines)-1]; last != Cut {
		t.Errorf("the last line is %q, want %q", last, Cut)
	}
}

func TestUnwrittenRequestHasNoSignature(t *testing.T) {
	t.Parallel()
	p := testPost("https://" + listen(t, "127.0.0.1:0", nil, answering("no TLS")))
	p.Sign = func(time.Time) (string, error) { return "t=1,v1=ab", nil }
	if got := newSender(t, Config{}).Send(t.Context(), p); got.Signature != "" || got.Header != "" {
		t.Errorf("got %q and %q, want none", got.Signature, got.Header)
	}
}

func BenchmarkHeaderText(b *testing.B) {
	h := http.Header{
		"Content-Type": {"application/json"}, "Content-Length": {"2"}, "Date": {"Sat, 21 Nov 2026 06:00:00 GMT"}, "Server": {"nginx"},
		"Set-Cookie": {"sid=1"}, "X-Request-Id": {"7f1"}, "Cache-Control": {"no-store"}, "Vary": {"Accept"},
	}
	b.ReportAllocs()
	for b.Loop() {
		_ = headerText(h)
	}
}
