package chaos

import (
	"context"
	"errors"
	"net"
	"time"
)

const (
	// partedFor is how long packets are dropped. It is longer than any lease or session.
	partedFor = 30 * time.Second
	// maxHeal limits the time from the end of a partition until all earlier events have arrived.
	// TCP doubles its retransmission timeout, so that a connection kept through 30 silent seconds
	// continues up to 26 seconds later. The brokers' session and a new connection need some more.
	maxHeal = 45 * time.Second
)

// allPartitions returns faults in which instances cannot reach a store, in one direction or in both. They need a
// cluster with network namespaces.
func allPartitions() []Fault {
	var all []Fault
	for _, way := range []Direction{Both, Outbound, Inbound} {
		all = append(all,
			Fault{Name: "api-store-" + string(way), Do: parted(way, storeAddress, "api-1", "api-2"), maxHeal: maxHeal, alone: true},
			Fault{Name: "api-clickhouse-" + string(way), Do: parted(way, engineAddress, "api-1", "api-2"), maxHeal: maxHeal},
			Fault{Name: "ingest-store-" + string(way), Do: parted(way, storeAddress, "ingest-1", "ingest-2"), maxHeal: maxHeal},
			Fault{Name: "dispatch-kafka-" + string(way), Do: parted(way, kafkaAddress, "dispatch-1", "dispatch-2"), maxHeal: maxHeal},
			Fault{Name: "dispatch-1-kafka-" + string(way), Do: parted(way, kafkaAddress, "dispatch-1"), maxHeal: maxHeal, takeOver: true},
		)
	}
	return all
}

// storeAddress, engineAddress and kafkaAddress are the addresses on the other side.
func storeAddress(c *Cluster) []string  { return []string{c.Store.Address()} }
func engineAddress(c *Cluster) []string { return []string{c.EngineAddress()} }
func kafkaAddress(c *Cluster) []string  { return c.Brokers }

// parted returns a fault that drops packets between instances and addresses for partedFor.
func parted(way Direction, from func(*Cluster) []string, names ...string) func(context.Context, *Cluster) (string, error) {
	return func(ctx context.Context, c *Cluster) (string, error) {
		var ports []string
		for _, address := range from(c) {
			_, port, err := net.SplitHostPort(address)
			if err != nil {
				return "", err
			}
			ports = append(ports, port)
		}
		var faults []error
		for _, name := range names {
			faults = append(faults, c.Instance(name).Net.Drop(ctx, way, ports...))
		}
		faults = append(faults, wait(ctx, partedFor))
		for _, name := range names {
			faults = append(faults, c.Instance(name).Net.Restore(context.WithoutCancel(ctx), way, ports...))
		}
		return "", errors.Join(faults...)
	}
}
