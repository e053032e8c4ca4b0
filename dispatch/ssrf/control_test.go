package ssrf_test

import (
	"errors"
	"testing"

	"vayu/dispatch/ssrf"
)

func TestControlRefusesWhatIsNotPublic(t *testing.T) {
	t.Parallel()
	g := ssrf.New(nil, []int{8443, 0, -1, 70000})
	for _, address := range []string{
		"0.0.0.0:443", "10.0.0.1:443", "100.64.0.1:443", "100.100.100.200:443", "127.0.0.1:443", "169.254.169.254:443",
		"168.63.129.16:443", "172.31.255.255:443", "192.0.0.192:443", "192.0.2.1:443", "192.88.99.1:443", "192.168.0.1:443",
		"198.18.0.1:443", "198.51.100.1:443", "203.0.113.1:443", "224.0.0.1:443", "239.255.255.255:443", "240.0.0.1:443",
		"255.255.255.255:443",
		"[::]:443", "[::1]:443", "[::ffff:8.8.8.8]:443", "[::ffff:127.0.0.1]:443", "[::8.8.8.8]:443", "[64:ff9b::808:808]:443",
		"[64:ff9b:1::808:808]:443", "[100::1]:443", "[2001::1]:443", "[2001:20::1]:443", "[2001:db8::1]:443", "[2002:808:808::1]:443",
		"[2600:1f00::200:5efe:a00:1]:443", "[3fff::1]:443", "[5f00::1]:443", "[fc00::1]:443", "[fd00:ec2::254]:443",
		"[fe80::1]:443", "[fe80::1%eth0]:443", "[2606:4700::1111%eth0]:443", "[fec0::1]:443", "[ff02::1]:443",
		// Public addresses with a forbidden port.
		"8.8.8.8:0", "8.8.8.8:22", "8.8.8.8:80", "[2606:4700::1111]:22",
		// No addresses at all.
		"", "8.8.8.8", "example.com:443", "8.8.8.8:x", "0x8.8.8.8:443",
	} {
		err := g.Control("tcp4", address, nil)
		var refused *ssrf.AddressError
		if !errors.As(err, &refused) || refused.Address != address {
			t.Errorf("Control(%q) = %v, want an AddressError", address, err)
		}
	}
	for _, network := range []string{"udp4", "tcp", "unix", ""} {
		if err := g.Control(network, "8.8.8.8:443", nil); err == nil {
			t.Errorf("Control lets %q through", network)
		}
	}
}

func TestControlLetsThroughWhatIsPublicOrAllowed(t *testing.T) {
	t.Parallel()
	public := ssrf.New(nil, []int{8443})
	for _, address := range []string{"8.8.8.8:443", "8.8.8.8:8443", "[2606:4700::1111]:443", "100.128.0.1:443", "168.63.129.17:443"} {
		if err := public.Control("tcp4", address, nil); err != nil {
			t.Errorf("Control(%q) = %v", address, err)
		}
	}
	own := ssrf.New(prefixes("127.0.0.1/8", "::ffff:10.0.0.0/104", "fd00:1::/32"), nil)
	for _, address := range []string{"127.0.0.1:1", "127.9.9.9:65535", "[::ffff:127.0.0.1]:9000", "10.1.2.3:80", "[::ffff:10.1.2.3]:80", "[fd00:1::1]:22", "8.8.8.8:443"} {
		if err := own.Control("tcp6", address, nil); err != nil {
			t.Errorf("Control(%q) = %v", address, err)
		}
	}
	for _, address := range []string{"127.0.0.1:0", "11.0.0.1:80", "[::1]:443", "[64:ff9b::7f00:1]:443", "[fd00:2::1]:443", "169.254.169.254:80"} {
		if err := own.Control("tcp6", address, nil); err == nil {
			t.Errorf("Control(%q) lets it through", address)
		}
	}
}

func BenchmarkControl(b *testing.B) {
	g := ssrf.New(prefixes("10.0.0.0/8"), nil)
	for b.Loop() {
		if err := g.Control("tcp4", "93.184.215.14:443", nil); err != nil {
			b.Fatal(err)
		}
	}
}
