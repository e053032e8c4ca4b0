package config

import (
	"fmt"
	"net/netip"
)

// Networks reads addresses (10.0.0.7) and networks (10.0.0.0/8) as networks.
func Networks(texts []string) ([]netip.Prefix, error) {
	out := make([]netip.Prefix, 0, len(texts))
	for _, text := range texts {
		if address, err := netip.ParseAddr(text); err == nil && address.Zone() == "" {
			address = address.Unmap()
			out = append(out, netip.PrefixFrom(address, address.BitLen()))
			continue
		}
		network, err := netip.ParsePrefix(text)
		if err != nil {
			return nil, fmt.Errorf("%q is neither an address nor a network such as 10.0.0.0/8", text)
		}
		out = append(out, network.Masked())
	}
	return out, nil
}
