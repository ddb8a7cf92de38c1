# SPDX-License-Identifier: MIT
"""Mining together without sharing: sites find joint rules, and none shows its data.

How the package is built, from the bottom up:

=======================================  ===============================================================================
`transport.message`                      frames: a JSON header and raw arrays, parsed strictly, with limits
`transport.network`                      a site's connections; what a protocol is; sites in one process
`transport.liveness`                     signs of life, so that work may take long and a silent site is still noticed
`transport.tls_network`                  the same between processes: TCP, mutual TLS 1.3, pinned certificates
`statement`                              what a site learned, and a transcript of hashes
`arithmetic.group`                       a group of prime order: hashing to it, multiplying, adding
`protocols.union`                        private set union by commutative encryption
`protocols.passed_union`                 the textbook's union, in which lists travel from site to site
`protocols.sums`                         secure sums by additive shares
`arithmetic.field`, `shamir`             arithmetic modulo a prime; shares and products with an honest majority
`protocols.ring`                         the textbook's ring sum and the two-party comparison that ends it
`protocols.threshold`                    the choice among ways to test sums against zero
`horizontal`                             association rules over baskets that are split by rows between sites
`protocols.alignment`                    private set intersection: the rows that all sites have
`protocols.common_names`                 whether two sites name an item alike
`arithmetic.packed_cipher`               packed homomorphic encryption, masked and flooded
`protocols.scalar_product`               private scalar products of two sites' vectors, as shares, and their comparison
`protocols.algebraic_product`            the textbook's scalar product, which is broken
`protocols.support_shares`               the choice among ways to hold supports of split itemsets as shares
`vertical`                               association rules over people whose attributes are split between sites
`joint_anonymity`                        whether tables that are split by rows are k-anonymous together
`joint_sums`                             totals and means of columns of such tables
`joint_table`                            contingency tables of them
`site_config`, `site`                    one site as a process of its own: `sfumato party`
=======================================  ===============================================================================

A protocol is an async function ``protocol(network, private_input) -> result`` that every site runs alike. Results are
frames with columns as in `sfumato.mine`, without counts that nobody needs to know, and a `Statement` for each site.

The public names are those in the typing block.
"""

from __future__ import annotations

from sfumato.runtime.lazy import make_lazy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sfumato.parties.horizontal import JointQuestion as JointQuestion
    from sfumato.parties.horizontal import mine_horizontal as mine_horizontal
    from sfumato.parties.horizontal import mine_site as mine_site
    from sfumato.parties.joint_anonymity import JointAnonymity as JointAnonymity
    from sfumato.parties.joint_anonymity import check_k_anonymity as check_k_anonymity
    from sfumato.parties.joint_sums import JointSums as JointSums
    from sfumato.parties.joint_sums import add_columns as add_columns
    from sfumato.parties.joint_table import JointCounts as JointCounts
    from sfumato.parties.joint_table import count_combinations as count_combinations
    from sfumato.parties.protocols.scalar_product import compare_scalar_product as compare_scalar_product
    from sfumato.parties.protocols.threshold import Protocol as Protocol
    from sfumato.parties.result import JointResult as JointResult
    from sfumato.parties.result import SiteAnswer as SiteAnswer
    from sfumato.parties.result import SiteResult as SiteResult
    from sfumato.parties.site import run_site as run_site
    from sfumato.parties.site_config import SiteConfig as SiteConfig
    from sfumato.parties.statement import Statement as Statement
    from sfumato.parties.transport.network import LocalNetwork as LocalNetwork
    from sfumato.parties.transport.network import Network as Network
    from sfumato.parties.transport.network import run_sites as run_sites
    from sfumato.parties.vertical import VerticalProtocol as VerticalProtocol
    from sfumato.parties.vertical import VerticalQuestion as VerticalQuestion
    from sfumato.parties.vertical import mine_vertical as mine_vertical
    from sfumato.parties.vertical import mine_vertical_site as mine_vertical_site

make_lazy(__name__)
