package sender

import (
	"context"
	"net"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/net/dns/dnsmessage"

	"vayu/dispatch/ssrf"
	"vayu/internal/testing/fixture"
	"vayu/schema"
)

// nameServer is a DNS server on loopback. A name that is missing in names does not
// exist. A name without addresses causes a server failure.
type nameServer struct {
	mu    sync.Mutex
	names map[string][]string
}

func (d *nameServer) set(name string, addrs ...string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.names[name+"."] = addrs
}

// resolver starts the server, and returns a resolver that queries it.
func (d *nameServer) resolver(t *testing.T) *net.Resolver {
	t.Helper()
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	go func() {
		buffer := make([]byte, 1500)
		for {
			n, from, err := conn.ReadFrom(buffer)
			if err != nil {
				return
			}
			var query dnsmessage.Message
			if query.Unpack(buffer[:n]) != nil {
				continue
			}
			reply := d.reply(query)
			packed, err := reply.Pack()
			if err != nil {
				continue
			}
			_, _ = conn.WriteTo(packed, from)
		}
	}()
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		var dialer net.Dialer
		return dialer.DialContext(ctx, "udp", conn.LocalAddr().String())
	}}
}

func (d *nameServer) reply(m dnsmessage.Message) dnsmessage.Message {
	d.mu.Lock()
	defer d.mu.Unlock()
	m.Response, m.Authoritative, m.Additionals = true, true, nil
	question := m.Questions[0]
	addrs, ok := d.names[question.Name.String()]
	switch {
	case !ok:
		m.RCode = dnsmessage.RCodeNameError
	case len(addrs) == 0:
		m.RCode = dnsmessage.RCodeServerFailure
	}
	for _, text := range addrs {
		header := dnsmessage.ResourceHeader{Name: question.Name, Type: question.Type, Class: question.Class}
		switch addr := netip.MustParseAddr(text); {
		case addr.Is4() && question.Type == dnsmessage.TypeA:
			m.Answers = append(m.Answers, dnsmessage.Resource{Header: header, Body: &dnsmessage.AResource{A: addr.As4()}})
		case addr.Is6() && question.Type == dnsmessage.TypeAAAA:
			m.Answers = append(m.Answers, dnsmessage.Resource{Header: header, Body: &dnsmessage.AAAAResource{AAAA: addr.As16()}})
		}
	}
	return m
}

func TestNames(t *testing.T) {
	t.Parallel()
	ca := fixture.NewAuthority(t)
	var dns nameServer
	dns.names = map[string][]string{
		"good.test.":      {"127.0.0.1"},
		"mixed.test.":     {"169.254.169.254", "10.0.0.1", "127.0.0.1", "fd00:ec2::254"},
		"inside.test.":    {"169.254.169.254", "10.0.0.1"},
		"mapped.test.":    {"::ffff:127.0.0.2"},
		"carried.test.":   {"64:ff9b::7f00:1"},
		"loopback6.test.": {"::1"},
		"broken.test.":    nil,
	}
	allowed := ssrf.New([]netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}, nil)
	s := newSender(t, Config{Roots: ca.Pool(), Resolver: dns.resolver(t), Control: allowed.Control})
	_, port, err := net.SplitHostPort(listen(t, "127.0.0.1:0", tlsConfig(ca.Server("good.test", "mixed.test")), answering(fine)))
	if err != nil {
		t.Fatal(err)
	}
	resolving := []schema.Stage{schema.StageDNS}
	for name, w := range map[string]want{
		"good.test":      {status: 200, body: "ok"},
		"mixed.test":     {status: 200, body: "ok"}, // by its one address that is allowed
		"inside.test":    {text: textNoName, stages: resolving},
		"mapped.test":    {text: textNoName, stages: resolving},
		"carried.test":   {text: textNoName, stages: resolving},
		"loopback6.test": {text: textNoName, stages: resolving},
		"broken.test":    {text: textName, stages: resolving},
		"nowhere.test":   {text: textNoName, stages: resolving},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w.check(t, s.Send(t.Context(), testPost("https://"+name+":"+port+"/in")))
		})
	}
}

// A denied attempt must not disclose which internal names exist.
func TestInternalNameLooksLikeMissingName(t *testing.T) {
	t.Parallel()
	dns := nameServer{names: map[string][]string{"vault.corp.test.": {"10.0.0.1"}, "vault6.corp.test.": {"fd00::1"}}}
	s := newSender(t, Config{Resolver: dns.resolver(t), Control: ssrf.New(nil, nil).Control})
	resultOf := func(name string) Result {
		r := s.Send(t.Context(), testPost("https://"+name+"/in"))
		r.SentAt, r.Duration = time.Time{}, 0
		return r
	}
	none := resultOf("nothing.corp.test")
	for _, name := range []string{"vault.corp.test", "vault6.corp.test"} {
		if diff := cmp.Diff(none, resultOf(name)); diff != "" {
			t.Errorf("%s differs from a name that does not exist (-none +%s):\n%s", name, name, diff)
		}
	}
}

// A name that was public when the subscription was created resolves to an internal
// address later.
func TestDNSRebindingIsDenied(t *testing.T) {
	t.Parallel()
	const lastOne = "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok"
	dns := nameServer{names: map[string][]string{}}
	allowed := ssrf.New([]netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}, nil)
	s := newSender(t, Config{Resolver: dns.resolver(t), Control: allowed.Control})
	_, port, err := net.SplitHostPort(listen(t, "127.0.0.1:0", nil, answering(lastOne)))
	if err != nil {
		t.Fatal(err)
	}
	var inside atomic.Int64
	listen(t, "127.0.0.2:"+port, nil, func(net.Conn) { inside.Add(1) })

	dns.set("turn.test", "127.0.0.1")
	want{status: 200, body: "ok"}.check(t, s.Send(t.Context(), testPost("http://turn.test:"+port)))
	dns.set("turn.test", "127.0.0.2")
	got := s.Send(t.Context(), testPost("http://turn.test:"+port))
	want{text: textNoName, stages: []schema.Stage{schema.StageDNS}}.check(t, got)
	if n := inside.Load(); n != 0 {
		t.Errorf("%d connections went inside", n)
	}
	if strings.Contains(got.Error, "127.") {
		t.Errorf("the error %q names an address", got.Error)
	}
}

func TestSilentNameServer(t *testing.T) {
	t.Parallel()
	silence := &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	}}
	s := New(Config{Resolver: silence, Timeout: 100 * time.Millisecond})
	got := s.Send(t.Context(), testPost("https://hooks.example.com/in"))
	if got.Stage != schema.StageDNS || !got.Slow || got.Error != "the host name could not be resolved within 100ms" {
		t.Errorf("got %+v, want an attempt that ended with DNS", got)
	}
}
