package mqtt

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"time"

	paho3 "github.com/eclipse/paho.mqtt.golang"

	"vayu/ingest/stream"
)

// refusedSubscription is the return code for a refused subscription in the packet SUBACK.
const refusedSubscription = 0x80

// open3 implements [Settings.open] for MQTT 3.1.1.
func (s *Settings) open3(ctx context.Context, deliver func(message)) (*connection, error) {
	lost := make(chan error, 1)
	options := paho3.NewClientOptions().
		AddBroker("tcp://" + s.Address). // the function below opens the connection, also with TLS
		SetCustomOpenConnectionFn(func(*url.URL, paho3.ClientOptions) (net.Conn, error) { return s.dial(ctx) }).
		SetProtocolVersion(Version311).SetClientID(s.ClientID).SetUsername(s.Username).SetPassword(s.Password).
		SetCleanSession(s.Session == 0).SetKeepAlive(keepAlive).SetPingTimeout(packetTimeout).
		SetConnectTimeout(dialTimeout).SetWriteTimeout(packetTimeout).
		SetAutoReconnect(false).SetConnectRetry(false).SetAutoAckDisabled(true).SetOrderMatters(true).
		SetConnectionLostHandler(func(_ paho3.Client, err error) {
			select {
			case lost <- errors.Join(errLost, err):
			default:
			}
		}).
		SetDefaultPublishHandler(func(_ paho3.Client, m paho3.Message) {
			deliver(message{
				Message:   stream.Message{Topic: m.Topic(), Payload: m.Payload(), At: time.Now(), Retained: m.Retained()},
				duplicate: m.Duplicate(), ack: func() error { m.Ack(); return nil },
			})
		})
	client := paho3.NewClient(options)
	if err := await(ctx, client.Connect()); err != nil {
		client.Disconnect(0)
		return nil, err
	}
	c := &connection{lost: lost, close: func() { client.Disconnect(uint(lastAcks.Milliseconds())) }}
	filters := make(map[string]byte)
	for _, filter := range s.Filters {
		filters[filter] = 1
	}
	token := client.SubscribeMultiple(filters, nil)
	err := await(ctx, token)
	if sub, ok := token.(*paho3.SubscribeToken); ok && err == nil {
		for filter, code := range sub.Result() {
			if code == refusedSubscription {
				err = fmt.Errorf("the broker refuses the subscription to %s", filter)
			}
		}
	}
	if err != nil {
		c.close()
		return nil, err
	}
	return c, nil
}

// await waits for the broker's reply to a request, at most for packetTimeout.
func await(ctx context.Context, token paho3.Token) error {
	select {
	case <-token.Done():
		return token.Error()
	case <-time.After(packetTimeout):
		return errors.New("the broker does not reply")
	case <-ctx.Done():
		return ctx.Err()
	}
}
