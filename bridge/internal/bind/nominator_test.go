package bind

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"

	"github.com/sluice-scheduler/sluice/bridge/internal/feed"
)

// nominees is what the mirror would show, and what was written.
type nominees struct {
	*cluster
	t        *testing.T
	assumed  string
	failures int
	writes   []string
}

func (n *nominees) Waits(pod *corev1.Pod) bool { return pod.Spec.NodeName == "" }

func (n *nominees) show(node string) {
	pod := webPod()
	pod.Status.NominatedNodeName = node
	n.mu.Lock()
	defer n.mu.Unlock()
	n.pods["shop/web"] = pod
}

func (n *nominees) patched(action clienttesting.Action) (bool, runtime.Object, error) {
	patch, ok := action.(clienttesting.PatchAction)
	if !ok || action.GetSubresource() != "status" {
		n.t.Errorf("unexpected %v", action)
		return true, nil, nil
	}
	var body struct {
		Metadata struct{ UID string }
		Status   map[string]any
	}
	if err := json.Unmarshal(patch.GetPatch(), &body); err != nil || body.Metadata.UID != "uid-1" || len(body.Status) != 1 {
		n.t.Errorf("patch %s: %v", patch.GetPatch(), err)
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.failures--; n.failures >= 0 {
		return true, nil, errors.New("no answer")
	}
	node, _ := body.Status["nominatedNodeName"].(string)
	n.writes = append(n.writes, node)
	return true, nil, nil
}

func TestNominations(t *testing.T) {
	on := func(node string) feed.Delta { return feed.Delta{Key: "shop/web", ID: "uid-1", Machine: node} }
	for _, test := range []struct {
		name  string
		shown string
		do    func(*nominees, *Nominator)
		want  []string
	}{
		{name: "are written", do: func(_ *nominees, n *Nominator) {
			n.Nominate(on("n1"))
		}, want: []string{"n1"}},
		{name: "are written until that has succeeded", do: func(c *nominees, n *Nominator) {
			c.failures = 3
			n.Nominate(on("n1"))
		}, want: []string{"n1"}},
		{name: "are not written where the pod has them", shown: "n1", do: func(_ *nominees, n *Nominator) {
			n.Nominate(on("n1"))
		}},
		{name: "change", shown: "n1", do: func(_ *nominees, n *Nominator) {
			n.Nominate(on("n2"))
		}, want: []string{"n2"}},
		{name: "are cleared, also where the mirror does not show them yet", do: func(_ *nominees, n *Nominator) {
			n.Nominate(on("n1"))
			synctest.Wait()
			n.Nominate(on(""))
		}, want: []string{"n1", ""}},
		{name: "are not written to another pod of that name", do: func(_ *nominees, n *Nominator) {
			n.Nominate(feed.Delta{Key: "shop/web", ID: "uid-0", Machine: "n1"})
		}},
		{name: "are not written to a pod that is being bound", do: func(c *nominees, n *Nominator) {
			c.assumed = "n1"
			n.Nominate(on("n1"))
		}},
		{name: "of a former term are cleared", shown: "n1", do: func(_ *nominees, n *Nominator) {
			n.PodChanged("shop/web")
			n.Restated()
		}, want: []string{""}},
		{name: "of a former term are kept while the daemon does not answer", shown: "n1", do: func(_ *nominees, n *Nominator) {
			n.PodChanged("shop/web")
		}},
		{name: "of a former term that hold are not written", shown: "n1", do: func(_ *nominees, n *Nominator) {
			n.PodChanged("shop/web")
			n.Restated()
			time.Sleep(renominationTime / 2)
			n.Nominate(on("n1"))
		}},
		{name: "are cleared where a daemon that starts empty does not know them", do: func(_ *nominees, n *Nominator) {
			n.Restated()
			n.Nominate(on("n1"))
			time.Sleep(time.Hour)
			n.Restated()
		}, want: []string{"n1", ""}},
		{name: "of others are left alone", do: func(c *nominees, n *Nominator) {
			n.Restated()
			time.Sleep(2 * renominationTime)
			c.show("n1")
			n.PodChanged("shop/web")
		}},
		{name: "are cleared where a bind fails and room is kept no longer", shown: "n1", do: func(c *nominees, n *Nominator) {
			n.Restated()
			n.Nominate(on("n1"))
			time.Sleep(time.Hour)
			n.Placed(on("n1"))
		}, want: []string{""}},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := &nominees{cluster: &cluster{pods: map[string]*corev1.Pod{}}, t: t}
				c.show(test.shown)
				client := fake.NewClientset()
				client.PrependReactor("patch", "pods", c.patched)
				n := NewNominator(client, c, func(string) string { return c.assumed }, soon)
				ctx, cancel := context.WithCancel(t.Context())
				var running sync.WaitGroup
				running.Go(func() { n.Run(ctx, 1) })
				defer running.Wait()
				defer cancel()
				test.do(c, n)
				time.Sleep(5 * time.Minute)
				synctest.Wait()
				c.mu.Lock()
				defer c.mu.Unlock()
				if !slices.Equal(c.writes, test.want) {
					t.Errorf("wrote %q, want %q", c.writes, test.want)
				}
			})
		})
	}
}
