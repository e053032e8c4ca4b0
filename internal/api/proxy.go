package api

import (
	"net/http"
	"net/netip"
)

// proxies are the networks whose X-Forwarded-For is believed.
type proxies []netip.Prefix

// client is who asks: the socket's address.
func (p proxies) client(r *http.Request) netip.Addr {
	at, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return netip.Addr{}
	}
	return at.Addr().Unmap()
}
