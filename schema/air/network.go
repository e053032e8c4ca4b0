package air

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

// Network returns the station's network, the first part of its id.
func (s *Station) Network() string { return NetworkOf(s.ID) }

// NetworkOf returns the network of the station with this id, such as "cpcb".
func NetworkOf(id string) string {
	network, _, _ := strings.Cut(id, "-")
	return network
}

// networkPriorities has the priorities of networks. A physical station can have ids in several networks. Of the ids
// that have an AQI, the id in the network with the highest priority is used. CPCB comes first, because it operates the
// analysers. Other networks that run stations have 20. Networks that copy data, late and in other units, come last.
var networkPriorities = map[string]uint8{"cpcb": 30, "openaq": 10, "waqi": 10, "citymean": 5}

// NetworkPriority returns the priority of a network. It is 20 for a network that is not in networkPriorities.
func NetworkPriority(network string) uint8 {
	if p, ok := networkPriorities[network]; ok {
		return p
	}
	return 20
}

// An account's own stations are in a network of their own. Its name is ownNetwork, followed by ownDigits hexadecimal
// digits.
const (
	ownNetwork = "own"
	ownDigits  = 12
)

// OwnStationID returns the id of a station that an account has registered under a name. Names are unique only within an
// account and world. The network in the id is therefore derived from the account: "own" and 12 hexadecimal digits.
func OwnStationID(account, name string) string {
	digest := sha256.Sum256([]byte(account))
	return ownNetwork + hex.EncodeToString(digest[:ownDigits/2]) + "-" + name
}

// Own reports whether an account has registered the station.
func (s *Station) Own() bool {
	digits, ok := strings.CutPrefix(s.Network(), ownNetwork)
	return ok && len(digits) == ownDigits
}
