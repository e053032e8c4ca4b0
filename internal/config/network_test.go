package config_test

import (
	"net/netip"
	"testing"

	"github.com/google/go-cmp/cmp"

	"vayu/internal/config"
)

func TestNetworkHasOneForm(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"10.0.0.7":               "10.0.0.7/32",
		"10.0.0.7/8":             "10.0.0.0/8",
		"0.0.0.0/0":              "0.0.0.0/0",
		"2001:DB8::7":            "2001:db8::7/128",
		"2001:db8::7/32":         "2001:db8::/32",
		"::/0":                   "::/0",
		"::ffff:10.0.0.7":        "10.0.0.7/32",
		"::ffff:10.0.0.7/128":    "10.0.0.7/32",
		"::ffff:172.16.9.9/108":  "172.16.0.0/12",
		"::ffff:a00:7/104":       "10.0.0.0/8",
		"::ffff:0:0/96":          "0.0.0.0/0",
		"::ffff:10.0.0.7/95":     "",
		"::ffff:10.0.0.7/0":      "",
		"fe80::1%eth0":           "",
		"fe80::1%eth0/64":        "",
		"::ffff:10.0.0.7%eth0":   "",
		"10.0.0.7/33":            "",
		"10.0.0.7/-1":            "",
		"10.0.0.7/08":            "",
		"10.0.0":                 "",
		"10.0.0.07":              "",
		"10.0.0.7 x":             "",
		"10.0.0.7:80":            "",
		"localhost":              "",
		"":                       "",
		"::ffff:10.0.0.7/129":    "",
		"10.0.0.7/255.255.255.0": "",
	} {
		p, err := config.Network(text)
		switch {
		case want == "" && (err == nil || p.IsValid()):
			t.Errorf("%q = %v, want an error", text, p)
		case want != "" && (err != nil || p.String() != want):
			t.Errorf("%q = %v, %v; want %s", text, p, err, want)
		}
	}
}

func TestNetworksAreAllOrNone(t *testing.T) {
	t.Parallel()
	got, err := config.Networks([]string{"::ffff:10.0.0.0/104", "::1"})
	want := []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("::1/128")}
	if diff := cmp.Diff(want, got, cmp.Comparer(func(a, b netip.Prefix) bool { return a == b })); diff != "" || err != nil {
		t.Errorf("%v %s", err, diff)
	}
	if got, err := config.Networks([]string{"::1", "x"}); err == nil || got != nil {
		t.Errorf("got %v, %v, want an error only", got, err)
	}
}

func FuzzNetwork(f *testing.F) {
	for _, text := range [...]string{"10.0.0.7", "::ffff:10.0.0.0/104", "fe80::1%eth0/64", "::/0"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		p, err := config.Network(text)
		if err != nil {
			return
		}
		if !p.IsValid() || p != p.Masked() || p.Addr().Is4In6() {
			t.Fatalf("%q = %v", text, p)
		}
		if again, err := config.Network(p.String()); err != nil || again != p {
			t.Fatalf("%q = %v reads as %v, %v", text, p, again, err)
		}
	})
}

func TestLocalHosts(t *testing.T) {
	t.Parallel()
	for host, want := range map[string]bool{
		"": true, "localhost": true, "127.0.0.9": true, "::1": true, "[::1]": true, "::ffff:127.0.0.1": true, "/run/postgresql": true, "@socket": true,
		"localhost.example.com": false, "10.0.0.1": false, "0.0.0.0": false, "pg": false, "::": false,
	} {
		if got := config.Local(host); got != want {
			t.Errorf("%q is of this machine: %v, want %v", host, got, want)
		}
	}
}

func TestCheckOrigin(t *testing.T) {
	t.Parallel()
	for text, valid := range map[string]bool{
		"https://app.example.com": true, "https://app.example.com:8443": true, "https://xn--80ak6aa92e.com": true, "http://localhost": true,
		"http://localhost:5173": true, "http://127.0.0.1:3000": true,
		"": false, "*": false, "null": false, "https://*.example.com": false, "http://app.example.com": false, "https://app.example.com/": false,
		"https://app.example.com/a": false, "https://APP.example.com": false, "https://user@app.example.com": false, "app.example.com": false,
		"https://app.example.com:443": false, "http://localhost:80": false, "https://": false, "https://-": false, "file://": false,
		"https://app.example.com?x": false, "https://app.example.com:": false, "https://münchen.de": false, "https://app.example.com\n": false,
		"chrome-extension://abcdef": false,
	} {
		t.Run(text, func(t *testing.T) {
			t.Parallel()
			if err := config.CheckOrigin(text); (err == nil) != valid {
				t.Errorf("got error %v, want valid %t", err, valid)
			}
		})
	}
}
