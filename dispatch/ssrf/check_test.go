package ssrf_test

import (
	"errors"
	"net/netip"
	"net/url"
	"strings"
	"testing"

	"vayu/dispatch/ssrf"
	"vayu/schema"
)

const (
	form  = schema.InvalidWebhookURL
	leads = schema.URLNotAllowed
)

func TestDeniedURLs(t *testing.T) {
	t.Parallel()
	g := ssrf.New(nil, []int{8443})
	long := "https://hooks.example.com/" + strings.Repeat("a", 3000)
	for text, want := range map[string]schema.Code{
		// Addresses of a wrong form.
		"":                                                     form,
		"hooks.example.com/in":                                 form,
		"http://hooks.example.com/in":                          form,
		"ftp://hooks.example.com/in":                           form,
		"//hooks.example.com/in":                               form,
		"https:hooks.example.com":                              form,
		"https:/hooks.example.com":                             form,
		"https://":                                             form,
		"https:///in":                                          form,
		"https://?a=b":                                         form,
		"https://:443/in":                                      form,
		"https://user:pw@example.com/":                         form,
		"https://user@example.com/":                            form,
		"https://@example.com/":                                form,
		"https://:@example.com/":                               form,
		"https://example.com@127.0.0.1/":                       form,
		"https://example.com/in#part":                          form,
		"https://example.com/in#":                              form,
		"https://example.com#@127.0.0.1/":                      form,
		`https://example.com\@127.0.0.1/`:                      form,
		`https:\\example.com/`:                                 form,
		`https://example.com\in`:                               form,
		"https://example.com/a b":                              form,
		" https://example.com/":                                form,
		"https://example.com/\r\nX: y":                         form,
		"https://exam\tple.com/":                               form,
		"https://example.com/\x00":                             form,
		"https://example.com/\x7f":                             form,
		"https://bücher.example.com/":                          form,
		"https://example。com/":                                 form, // U+3002 is a dot to some
		"https://①②⑦.⓪.⓪.①/":                                   form,
		"https://example.com/caf\u00e9":                        form,
		"https://ex%61mple.com/":                               form,
		"https://%31%32%37.0.0.1/":                             form,
		"https://example.com/%zz":                              form,
		"https://example.com/in?x=%2":                          form,
		"https://example.com/{id}":                             form,
		"https://example.com/\"":                               form,
		"https://example.com./in":                              form,
		"https://localhost./":                                  form,
		"https://127.0.0.1./":                                  form,
		"https://.example.com/":                                form,
		"https://a..example.com/":                              form,
		"https://-a.example.com/":                              form,
		"https://a-.example.com/":                              form,
		"https://a_b.example.com/":                             form,
		"https://a,b.example.com/":                             form,
		"https://*.example.com/":                               form,
		"https://example.com:/":                                form,
		"https://example.com:0/":                               form,
		"https://example.com:65536/":                           form,
		"https://example.com:99999999999/":                     form,
		"https://example.com:+443/":                            form,
		"https://example.com:-1/":                              form,
		"https://example.com:0443/":                            form,
		"https://example.com:443:443/":                         form,
		"https://example.com:https/":                           form,
		"https://2130706433/":                                  form, // 127.0.0.1 as one number
		"https://0x7f000001/":                                  form,
		"https://0x7f.1/":                                      form,
		"https://0X7F.0.0.1/":                                  form,
		"https://0177.0.0.1/":                                  form,
		"https://127.1/":                                       form,
		"https://127.0.1/":                                     form,
		"https://127.0.0.01/":                                  form,
		"https://127.0.0.0x1/":                                 form,
		"https://0/":                                           form,
		"https://0x/":                                          form,
		"https://1.2.3.4.5/":                                   form,
		"https://256.1.1.1/":                                   form,
		"https://example.123/":                                 form,
		"https://2606:4700::1111/":                             form,
		"https://[2606:4700::1111/":                            form,
		"https://[2606:4700::1111]x/":                          form,
		"https://[example.com]/":                               form,
		"https://[93.184.215.14]/":                             form,
		"https://[]/":                                          form,
		"https://[fe80::1%25eth0]/":                            form,
		"https://[fe80::1%eth0]/":                              form,
		"https://[::1":                                         form,
		"https://" + strings.Repeat("a", 64) + ".com/":         form,
		"https://" + strings.Repeat("a.", 127) + "example.com": form,
		long: form,

		// Addresses that are forbidden for webhooks.
		"https://hooks.example.com:22/":             leads,
		"https://hooks.example.com:80/":             leads,
		"https://hooks.example.com:8080/":           leads,
		"https://93.184.215.14:22/":                 leads,
		"https://localhost/":                        leads,
		"https://LOCALHOST/":                        leads,
		"https://api.localhost/":                    leads,
		"https://localhost.localdomain/":            leads,
		"https://ip6-localhost/":                    leads,
		"https://printer.local/":                    leads,
		"https://db.internal/":                      leads,
		"https://nas.home.arpa/":                    leads,
		"https://router.lan/":                       leads,
		"https://kubernetes.default.svc/":           leads,
		"https://intranet/":                         leads,
		"https://instance-data/latest/meta-data/":   leads,
		"https://metadata.google.internal/":         leads,
		"https://Metadata.Google.Internal/":         leads,
		"https://metadata/":                         leads,
		"https://metadata.tencentyun.com/":          leads,
		"https://127.0.0.1/":                        leads,
		"https://127.8.8.8/":                        leads,
		"https://0.0.0.0/":                          leads,
		"https://10.0.0.1/":                         leads,
		"https://172.16.0.1/":                       leads,
		"https://192.168.1.1/":                      leads,
		"https://100.64.0.1/":                       leads, // CGNAT
		"https://100.100.100.200/":                  leads, // metadata of Alibaba
		"https://169.254.169.254/latest/meta-data/": leads,
		"https://168.63.129.16/":                    leads,
		"https://192.0.0.192/":                      leads, // metadata of Oracle
		"https://224.0.0.1/":                        leads,
		"https://255.255.255.255/":                  leads,
		"https://192.0.2.1/":                        leads,
		"https://198.18.0.1/":                       leads,
		"https://[::]/":                             leads,
		"https://[::1]/":                            leads,
		"https://[0:0:0:0:0:0:0:1]/":                leads,
		"https://[::ffff:127.0.0.1]/":               leads,
		"https://[::ffff:7f00:1]/":                  leads,
		"https://[::ffff:93.184.215.14]/":           leads,
		"https://[::127.0.0.1]/":                    leads,
		"https://[64:ff9b::7f00:1]/":                leads,
		"https://[64:ff9b::a9fe:a9fe]/":             leads,
		"https://[64:ff9b:1::a00:1]/":               leads,
		"https://[2002:7f00:1::]/":                  leads,
		"https://[2001:0:7f00:1::]/":                leads,
		"https://[2600:1f00::5efe:7f00:1]/":         leads,
		"https://[fe80::1]/":                        leads,
		"https://[fd00:ec2::254]/":                  leads,
		"https://[ff02::1]/":                        leads,
		"https://[2001:db8::1]/":                    leads,
	} {
		got, err := g.Check(text)
		var problem *schema.Problem
		if !errors.As(err, &problem) {
			t.Errorf("Check(%.80q) = %v, %v; want %s", text, got, err, want)
			continue
		}
		switch {
		case problem.Code != want:
			t.Errorf("%.80q: problem.Code = %v, want %v", text, problem.Code, want)
		case problem.Field != "url":
			t.Errorf("%.80q: problem.Field = %q, want \"url\"", text, problem.Field)
		case problem.Code.Status() != 422:
			t.Errorf("%.80q: problem.Code.Status() = %v, want 422", text, problem.Code.Status())
		case !strings.HasSuffix(problem.Message, "."):
			t.Errorf("%.80q: problem.Message = %q, want the suffix %q", text, problem.Message, ".")
		}
	}
}

func TestGoodURLsAreNormalised(t *testing.T) {
	t.Parallel()
	public := ssrf.New(nil, []int{8443})
	for text, want := range map[string]string{
		"https://hooks.example.com":               "https://hooks.example.com",
		"https://hooks.example.com/":              "https://hooks.example.com/",
		"HTTPS://Hooks.Example.COM:443/In?A=b":    "https://hooks.example.com/In?A=b",
		"https://hooks.example.com:8443/in":       "https://hooks.example.com:8443/in",
		"https://hooks.example.com?token=a%20b":   "https://hooks.example.com?token=a%20b",
		"https://hooks.example.com/a//b/../%2Fc?": "https://hooks.example.com/a//b/../%2Fc?",
		"https://hooks.example.com/in?ids[]=1&b":  "https://hooks.example.com/in?ids[]=1&b",
		"https://xn--bcher-kva.example.com/in":    "https://xn--bcher-kva.example.com/in",
		"https://3com.0xabc.example.com/":         "https://3com.0xabc.example.com/",
		"https://localhost.example.com/":          "https://localhost.example.com/",
		"https://93.184.215.14/in":                "https://93.184.215.14/in",
		"https://[2606:4700:0:0::1111]/in":        "https://[2606:4700::1111]/in",
		"https://[2606:4700::1111]:8443/in":       "https://[2606:4700::1111]:8443/in",
	} {
		check(t, public, text, want)
	}
}

func TestOperatorsAllowTheirNetworks(t *testing.T) {
	t.Parallel()
	machine := ssrf.New(prefixes("127.0.0.0/8", "::1/128"), nil)
	for _, text := range []string{
		"https://localhost/in", "https://localhost:9000/in", "https://receiver:9000/in", "https://db.internal:22/",
		"https://127.0.0.1:9000/in", "https://[::1]:9000/in", "https://[::ffff:127.0.0.1]:9000/in", "https://hooks.example.com:8080/in",
	} {
		check(t, machine, text, text)
	}
	office := ssrf.New(prefixes("10.0.0.0/8"), nil)
	check(t, office, "https://10.1.2.3:9000/in", "https://10.1.2.3:9000/in")
	check(t, office, "https://receiver.lan:9000/in", "https://receiver.lan:9000/in")
	for g, texts := range map[*ssrf.Guard][]string{
		machine: {"https://10.0.0.1/", "https://93.184.215.14:9000/", "https://metadata.google.internal/", "https://[64:ff9b::7f00:1]/"},
		office:  {"https://localhost/", "https://a.localhost:9000/", "https://127.0.0.1/", "https://instance-data/"},
	} {
		for _, text := range texts {
			if got, err := g.Check(text); err == nil {
				t.Errorf("Check(%q) = %v, want a refusal", text, got)
			}
		}
	}
}

func check(t *testing.T, g *ssrf.Guard, text, want string) {
	t.Helper()
	got, err := g.Check(text)
	if err != nil {
		t.Errorf("Check(%q): %v", text, err)
		return
	}
	if got.String() != want {
		t.Errorf("Check(%q) = %q, want %q", text, got, want)
	}
}

func prefixes(texts ...string) []netip.Prefix {
	var all []netip.Prefix
	for _, text := range texts {
		all = append(all, netip.MustParsePrefix(text))
	}
	return all
}

func FuzzCheck(f *testing.F) {
	for _, seed := range []string{
		"https://hooks.example.com:8443/in?a=%20b", "HTTPS://A.b:443", "https://[::ffff:127.0.0.1]:1/", "https://0x7f.1/",
		"https://a.b/%2f;:@&=+$,!*'()[]", "https://@a.b/", "https://a.b:0/", "https://a.b//c/..", "https://localhost:9000?",
	} {
		f.Add(seed)
	}
	closed := ssrf.New(nil, nil)
	open := ssrf.New(prefixes("127.0.0.0/8"), []int{8443})
	f.Fuzz(func(t *testing.T, text string) {
		for _, g := range []*ssrf.Guard{closed, open} {
			u, err := g.Check(text)
			if err != nil {
				var problem *schema.Problem
				if !errors.As(err, &problem) {
					t.Fatalf("Check(%q): %v, want a problem", text, err)
				}
				if problem.Field != "url" {
					t.Fatalf("Check(%q): %v, a problem about %q, want url", text, err, problem.Field)
				}
				continue
			}
			normal := u.String()
			switch {
			case u.Scheme != "https":
				t.Fatalf("%q: u.Scheme = %q, want \"https\"", text, u.Scheme)
			case u.User != nil:
				t.Fatalf("%q: u.User = %v, want nil", text, u.User)
			case u.Fragment != "":
				t.Fatalf("%q: u.Fragment = %q, want none", text, u.Fragment)
			case u.Hostname() == "":
				t.Fatalf("Check(%q) = %q", text, normal)
			case len(normal) > 2048+4:
				t.Fatalf("%q: len(normal) = %v, want at most %v", text, len(normal), 2048+4)
			}
			again, err := g.Check(normal)
			if err != nil || again.String() != normal {
				t.Fatalf("Check(%q) = %q, and again %v, %v", text, normal, again, err)
			}
			if parsed, err := url.Parse(normal); err != nil || *parsed != *u {
				t.Fatalf("%q is parsed as %#v (%v), not as %#v", normal, parsed, err, u)
			}
		}
	})
}
