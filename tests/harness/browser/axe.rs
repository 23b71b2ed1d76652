//! Accessibility, as axe-core (vendored beside this file, MPL-2.0) judges it.

use serde_json::Value;

use super::{Browser, Look};

const AXE: &str = include_str!("axe/axe.min.js");

/// Every rule of WCAG 2.0 to 2.2, levels A and AA, and axe's best practices.
const RUN: &str = "
const done = arguments[arguments.length - 1];
const tags = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];
axe.run(document, { runOnly: { type: 'tag', values: tags } }).then(
  (found) => done(found.violations.map((violation) => ({
    rule: violation.id, help: violation.help,
    where: violation.nodes.map((node) => `${node.target.join(' ')}: ${node.failureSummary}`),
  }))),
  (error) => done([{ rule: 'axe', help: String(error), where: [] }]));
";

impl Browser {
    /// Asserts that axe-core finds nothing wrong with the page as it is, in both colour schemes.
    ///
    /// # Panics
    /// With what it found.
    pub async fn is_accessible(&self, look: Look) {
        for dark in [false, true] {
            self.show(&Look { dark, ..look.clone() }).await;
            let violations = self.axe().await;
            assert!(violations.is_empty(), "dark: {dark}: {violations:#?}");
        }
        self.show(&look).await;
    }

    async fn axe(&self) -> Vec<Value> {
        // Through the debugger: the page's own policy lets no foreign script in.
        let script = serde_json::json!({ "expression": AXE });
        self.cdp("Runtime.evaluate", script).await;
        let found = self.driver.execute_async(RUN, vec![]).await.expect("axe runs");
        found.json().as_array().cloned().expect("a list of violations")
    }
}
