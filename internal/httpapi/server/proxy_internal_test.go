package server

import (
	"net/http"
	"net/netip"
	"strings"
	"testing"

	"vayu/internal/config"
)

func TestOnlyProxiesAreTrusted(t *testing.T) {
	t.Parallel()
	trusted, err := config.Networks([]string{"10.0.0.0/8", "::1", "fd00::/8", "::ffff:172.16.0.0/108"})
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		socket    string
		forwarded []string
		want      string
	}{
		"nobody":                   {"192.0.2.1:9", nil, "192.0.2.1"},
		"a liar":                   {"192.0.2.1:9", []string{"198.51.100.7"}, "192.0.2.1"},
		"a proxy":                  {"10.0.0.1:9", []string{"198.51.100.7"}, "198.51.100.7"},
		"a proxy's own request":    {"10.0.0.1:9", nil, "10.0.0.1"},
		"a liar behind a proxy":    {"10.0.0.1:9", []string{"127.0.0.1, 198.51.100.7"}, "198.51.100.7"},
		"two Proxies":              {"10.0.0.1:9", []string{"1.2.3.4, 198.51.100.7, 10.9.9.9"}, "198.51.100.7"},
		"only Proxies":             {"10.0.0.1:9", []string{"10.0.0.3, 10.0.0.2"}, "10.0.0.3"},
		"several lines":            {"10.0.0.1:9", []string{"1.2.3.4", "198.51.100.7", "10.9.9.9"}, "198.51.100.7"},
		"no address":               {"10.0.0.1:9", []string{"198.51.100.7, unknown"}, "10.0.0.1"},
		"no address further left":  {"10.0.0.1:9", []string{"198.51.100.7, _x, 10.0.0.2"}, "10.0.0.2"},
		"empty":                    {"10.0.0.1:9", []string{""}, "10.0.0.1"},
		"an empty entry":           {"10.0.0.1:9", []string{"198.51.100.7,,10.0.0.2"}, "10.0.0.2"},
		"comma at the end":         {"10.0.0.1:9", []string{"198.51.100.7,"}, "10.0.0.1"},
		"blanks and tabs":          {"10.0.0.1:9", []string{" 1.1.1.1 ,\t198.51.100.7 "}, "198.51.100.7"},
		"with a port":              {"10.0.0.1:9", []string{"198.51.100.7:4711"}, "198.51.100.7"},
		"IPv6":                     {"[::1]:9", []string{"2001:db8::7"}, "2001:db8::7"},
		"IPv6 in brackets":         {"[::1]:9", []string{"[2001:db8::7]"}, "2001:db8::7"},
		"IPv6 with a port":         {"[fd00::5]:9", []string{"[2001:db8::7]:80"}, "2001:db8::7"},
		"IPv4 in brackets":         {"[::1]:9", []string{"[198.51.100.7]"}, "::1"},
		"IPv4 as IPv6":             {"[::ffff:10.0.0.1]:9", []string{"::ffff:198.51.100.7"}, "198.51.100.7"},
		"trusted as IPv6":          {"172.16.0.1:9", []string{"198.51.100.7"}, "198.51.100.7"},
		"a zone":                   {"[fe80::1%eth0]:9", nil, "fe80::1"},
		"a forwarded zone":         {"10.0.0.1:9", []string{"fe80::1%eth0"}, "fe80::1"},
		"a Unix socket":            {"@", []string{"198.51.100.7"}, "invalid IP"},
		"no address of the socket": {"", nil, "invalid IP"},
	} {
		t.Run(name, func(t *testing.T) {
			r := &http.Request{RemoteAddr: c.socket, Header: http.Header{"X-Forwarded-For": c.forwarded}}
			if got := Proxies(trusted).Client(r).String(); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
	r := &http.Request{RemoteAddr: "10.0.0.1:9", Header: http.Header{"X-Forwarded-For": {"198.51.100.7"}}}
	if got := Proxies(nil).Client(r).String(); got != "10.0.0.1" {
		t.Errorf("without Proxies: %s", got)
	}
}

func FuzzForwarded(f *testing.F) {
	f.Add("1.2.3.4, [::1]:80", "198.51.100.7")
	f.Add(",,", "10.0.0.2")
	trusted := Proxies{netip.MustParsePrefix("10.0.0.0/8")}
	f.Fuzz(func(t *testing.T, left, last string) {
		ask := func(lines ...string) netip.Addr {
			return trusted.Client(&http.Request{RemoteAddr: "10.0.0.1:9", Header: http.Header{"X-Forwarded-For": lines}})
		}
		got := ask(left, last)
		if !got.IsValid() || got.Is4In6() || got.Zone() != "" {
			t.Fatalf("%q, %q: %v", left, last, got)
		}
		if ask(left+","+last) != got {
			t.Fatalf("%q, %q: two lines are not one list", left, last)
		}
		// Text to the left of an untrusted address has no effect.
		if lastAddr := ask(last); !strings.Contains(last, ",") && lastAddr.IsValid() && !trusted.trust(lastAddr) && got != lastAddr {
			t.Fatalf("%q made %v of %v", left, got, lastAddr)
		}
	})
}
