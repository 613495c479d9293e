package e2e

import (
	"context"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/sluice-scheduler/sluice/bridge/internal/kubetest"
)

var trouble = []testCase{
	{"what is not understood is told", func(c *kubetest.Cluster) {
		c.Node("n1")
		c.Pod("dra", func(p *corev1.Pod) {
			p.Spec.ResourceClaims = []corev1.PodResourceClaim{{Name: "gpu", ResourceClaimName: ptr.To("gpu")}}
		})
		c.Waits("dra", "spec.resourceClaims: Forbidden: dynamic resource allocation is not supported")
		c.HasEvent("dra", "FailedScheduling", "spec.resourceClaims")
	}},
	{"a webhook that refuses binds", func(c *kubetest.Cluster) {
		ctx := context.Background()
		webhooks := c.Client.AdmissionregistrationV1().ValidatingAdmissionPolicies()
		_, err := webhooks.Create(ctx, &admissionv1.ValidatingAdmissionPolicy{
			ObjectMeta: metav1.ObjectMeta{Name: "no-binds"},
			Spec: admissionv1.ValidatingAdmissionPolicySpec{
				MatchConstraints: &admissionv1.MatchResources{ResourceRules: []admissionv1.NamedRuleWithOperations{{
					RuleWithOperations: admissionv1.RuleWithOperations{
						Operations: []admissionv1.OperationType{admissionv1.Create},
						Rule:       admissionv1.Rule{APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{"pods/binding"}}}}}},
				Validations: []admissionv1.Validation{{Expression: `object.target.name != "n1"`, Message: "not there"}},
			}}, metav1.CreateOptions{})
		must(c, err)
		c.T.Cleanup(func() { _ = webhooks.Delete(ctx, "no-binds", metav1.DeleteOptions{}) })
		bindings := c.Client.AdmissionregistrationV1().ValidatingAdmissionPolicyBindings()
		_, err = bindings.Create(ctx, &admissionv1.ValidatingAdmissionPolicyBinding{
			ObjectMeta: metav1.ObjectMeta{Name: "no-binds"},
			Spec: admissionv1.ValidatingAdmissionPolicyBindingSpec{
				PolicyName: "no-binds", ValidationActions: []admissionv1.ValidationAction{admissionv1.Deny}},
		}, metav1.CreateOptions{})
		must(c, err)
		c.T.Cleanup(func() { _ = bindings.Delete(ctx, "no-binds", metav1.DeleteOptions{}) })
		c.Node("n1")
		c.Eventually("the policy is in force", func() bool {
			probe := c.Pod("probe", func(p *corev1.Pod) { p.Spec.SchedulerName = "nobody" })
			err := c.Client.CoreV1().Pods(c.Namespace).Bind(ctx, &corev1.Binding{
				ObjectMeta: metav1.ObjectMeta{Name: probe.Name}, Target: corev1.ObjectReference{Kind: "Node", Name: "n1"}}, metav1.CreateOptions{})
			c.DeletePod("probe")
			return err != nil
		})
		c.Pod("web")
		c.HasEvent("web", "FailedScheduling", "not there")
		c.Node("n2")
		c.DeleteNode("n1")
		c.IsOn("web", "n2")
	}},
	{"a pod deleted while it waits", func(c *kubetest.Cluster) {
		c.Pod("web")
		c.Waits("web", "0/0")
		c.DeletePod("web")
		c.Node("n1", kubetest.Offers("pods", "1"))
		c.Pod("other")
		c.IsOn("other", "n1")
	}},
}
